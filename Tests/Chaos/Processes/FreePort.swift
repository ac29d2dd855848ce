import Glibc

enum FreePort {
  /// Below the ephemeral ports of the system: no connection takes the port while its server is
  /// down.
  private static let range: Range<UInt16> = 15_000..<30_000

  /// A port of this machine that is free at the moment.
  static func find() throws -> Int {
    for _ in 0..<100 {
      let port = UInt16.random(in: range)
      if try isFree(port) { return Int(port) }
    }
    throw ChaosFailure("no free port")
  }

  private static func isFree(_ port: UInt16) throws -> Bool {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw ChaosFailure("no socket: error \(errno)") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
