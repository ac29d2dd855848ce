import Foundation

extension EphemeralPostgresInstallation {
  static func signal(_ process: Int32, _ number: Int32) {
    // A process that has ended meanwhile is skipped.
    _ = kill(process, number)
  }

  static func children(of parent: Int32) -> [Int32] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.compactMap { Int32($0) }.filter { status(of: $0, "PPid") == "\(parent)" }
  }

  /// Waits until the processes have ended or are zombies.
  static func waitForEnd(of processes: [Int32]) {
    for process in processes {
      while let state = status(of: process, "State"), !state.hasPrefix("Z") { usleep(1_000) }
    }
  }

  /// A free port of 127.0.0.1. Another process may take it before it is used.
  static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
      }
    }
    guard outcome == 0 else { throw EphemeralPostgresError("no port is free") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// A line of `/proc/PROCESS/status`; nil when there is no such process.
  private static func status(of process: Int32, _ name: String) -> String? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    else { return nil }
    return text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
  }
}
