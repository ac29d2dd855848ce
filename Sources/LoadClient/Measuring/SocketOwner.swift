import Glibc

/// Which process holds a socket of this machine.
enum SocketOwner {
  /// Who listens on a Unix socket, as the kernel says of the other end of a connection (unix(7)).
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

  /// Who listens on a TCP port: the socket is in `/proc/net/tcp`, and among the process's open files.
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

  /// The inodes of sockets that listen on a port.
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
