import Framing
import Glibc
import Wire

/// The process of a server on this machine.
struct ServerProcess: Hashable, Sendable {
  let identifier: Int

  /// Resources that the process has used.
  struct Usage: Hashable, Sendable {
    /// User and system time, in microseconds. The system counts in steps of 10 ms.
    let processorTime: Double
    /// Resident memory now and at its peak, in bytes.
    let memory: Int
    let peakMemory: Int
  }

  /// Nil when there is no such process.
  init?(identifier: Int) {
    guard ProcessTimes(identifier) != nil else { return nil }
    self.identifier = identifier
  }

  /// The process that listens on the address; nil when it is on another machine, or cannot be
  /// determined.
  init?(listeningOn address: ServerAddress) {
    let found =
      switch address {
      case .unix(let path): SocketOwner.ofUnixSocket(path)
      case .tcp(let host, let port), .tls(let host, let port), .mutualTLS(let host, let port):
        address.isLoopback || host == "0.0.0.0" ? SocketOwner.ofListener(onPort: port) : nil
      }
    guard let found else { return nil }
    self.init(identifier: found)
  }

  /// Nil when the process has ended.
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
  /// Nil when the file cannot be read.
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

/// Finds the process that owns a socket of this machine.
enum SocketOwner {
  /// The process that listens on a Unix socket, from the peer credentials of a connection
  /// (unix(7)).
  static func ofUnixSocket(_ path: String) -> Int? {
    let socket = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isConnected else { return nil }
    // struct ucred: process, user and group, of 32 bits each.
    var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
      return nil
    }
    return credentials.0 > 0 ? Int(credentials.0) : nil
  }

  /// The process that listens on a TCP port: finds the socket in `/proc/net/tcp`, and then in the
  /// open files of a process.
  static func ofListener(onPort port: UInt16) -> Int? {
    let sockets = ["net/tcp", "net/tcp6"].flatMap { listeners(in: $0, onPort: port) }
    guard !sockets.isEmpty else { return nil }
    let names = Set(sockets.map { "socket:[\($0)]" })
    return processes.first { process in
      entries(of: "/proc/\(process)/fd").contains { file in
        names.contains(target(of: "/proc/\(process)/fd/\(file)"))
      }
    }
  }

  /// The inodes of the sockets that listen on a port.
  private static func listeners(in file: String, onPort port: UInt16) -> [Substring] {
    (ProcFile.lines(file) ?? []).dropFirst().compactMap { line in
      // proc(5): number, local address:port, remote one, state (0A: it listens), …, inode.
      let fields = line.split(separator: " ")
      guard fields.count > 9, fields[3] == "0A",
        fields[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }) == port
      else { return nil }
      return fields[9]
    }
  }

  private static var processes: [Int] { entries(of: "/proc").compactMap { Int($0) } }

  private static func entries(of path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names
  }

  private static func target(of link: String) -> String {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = readlink(link, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}

/// Name, parent and processor times of a process (proc(5), `/proc/PID/stat`).
package struct ProcessTimes {
  package let name: String
  package let parent: Int
  /// Processor time in microseconds: of the process itself, and of its children that have ended.
  package let own: Double
  package let ended: Double

  /// Nil when there is no such process.
  package init?(_ identifier: Int) {
    guard let file = fopen("/proc/\(identifier)/stat", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = fread(&buffer, 1, buffer.count, file)
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    // The name is in parentheses, and may contain parentheses.
    guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")") else {
      return nil
    }
    name = String(text[text.index(after: open)..<close])
    let fields = text[text.index(after: close)...].split(separator: " ")
    guard fields.count > 14, let parent = Int(fields[1]) else { return nil }
    self.parent = parent
    let tick = 1e6 / Double(sysconf(Int32(_SC_CLK_TCK)))
    let times = fields[11...14].map { (Double($0) ?? 0) * tick }
    own = times[0] + times[1]
    ended = times[2] + times[3]
  }

  /// All processes of this machine.
  package static var all: [ProcessTimes] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var processes: [ProcessTimes] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let identifier = Int(name), let process = ProcessTimes(identifier) {
        processes.append(process)
      }
    }
    return processes
  }
}

/// Processor time of this process.
enum OwnProcessorTime {
  /// User and system time, in microseconds.
  static var microseconds: Double {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec)
    }
  }
}
