import Glibc
import Wire

/// The process of a server on this machine.
struct ServerProcess: Hashable, Sendable {
  let identifier: Int

  /// What it has used.
  struct Usage: Hashable, Sendable {
    /// User and system time, in microseconds; the system counts in steps of 10 ms.
    let processorTime: Double
    /// Resident memory now, and at its most, in bytes.
    let memory: Int
    let peakMemory: Int
  }

  /// Nil when there is no such process.
  init?(identifier: Int) {
    guard ProcessTimes(identifier) != nil else { return nil }
    self.identifier = identifier
  }

  /// Who listens there; nil when that is elsewhere, or cannot be seen.
  init?(listeningOn address: ServerAddress) {
    let found =
      switch address {
      case .unix(let path): SocketOwner.ofUnixSocket(path)
      case .tcp(let host, let port):
        address.isLoopback || host == "0.0.0.0" ? SocketOwner.ofListener(onPort: port) : nil
      }
    guard let found else { return nil }
    self.init(identifier: found)
  }

  /// Nil when it has ended.
  var usage: Usage? {
    guard let times = ProcessTimes(identifier), let status = ProcFile.lines("\(identifier)/status")
    else { return nil }
    func bytes(_ name: String) -> Int {
      // proc(5): "VmRSS:      5024 kB".
      let line = status.first { $0.hasPrefix(name + ":") }
      return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }.map { $0 * 1_024 }
        ?? 0
    }
    return Usage(
      processorTime: times.own, memory: bytes("VmRSS"), peakMemory: bytes("VmHWM"))
  }
}

/// Files of `/proc`.
enum ProcFile {
  /// Nil when it cannot be read.
  static func lines(_ path: String) -> [Substring]? {
    guard let file = fopen("/proc/\(path)", "r") else { return nil }
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }
}
