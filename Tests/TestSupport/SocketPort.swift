package import Glibc

/// The port of one end of an IPv4 socket; nil if there is none.
///
/// - Parameter name: `getsockname` for the local end, `getpeername` for the remote end.
package func socketPort(
  _ descriptor: CInt,
  _ name: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
) -> UInt16? {
  var address = sockaddr_in()
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
  }
  guard status == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
  return UInt16(bigEndian: address.sin_port)
}
