import Framing
import Glibc
import Wire

/// Listens without accepting: connections after the first one get no answer.
final class SilentListener: Sendable {
  private let descriptor: CInt
  let address: ServerAddress

  init() throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &name) { [descriptor] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && listen(descriptor, 0) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isListening else { throw HarnessFailure("cannot listen: error \(errno)") }
    address = .tcp(host: "127.0.0.1", port: UInt16(bigEndian: name.sin_port))
  }

  deinit {
    close(descriptor)
  }
}
