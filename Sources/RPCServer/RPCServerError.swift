package import Framing
import Glibc
import NIOCore
import Wire

/// The reason why a server could not start.
package struct RPCServerError: Error, Hashable, Sendable {
  package enum Code: Hashable, Sendable {
    /// Another server uses the address.
    case addressInUse
    /// This machine does not have the address, or the directory of a Unix socket does not exist.
    case addressNotAvailable
    /// The port is privileged, or the directory is not writable.
    case permissionDenied
    /// The host name has no address.
    case unknownHost
    /// The file at the Unix socket's path is not a socket. It is not removed.
    case notASocket
    /// A TLS address needs a certificate, and one with `mtls:` the authorities of clients.
    case noCertificate
    /// The server has been started or stopped before.
    case alreadyStarted
    /// Another error of the operating system.
    case bindFailed
  }

  package let code: Code
  /// The address that failed, if any.
  package let address: ServerAddress?
  /// The operating system's error number, if there is one.
  package let errno: CInt?

  package init(_ code: Code, address: ServerAddress? = nil, errno: CInt? = nil) {
    self.code = code
    self.address = address
    self.errno = errno
  }
}

extension RPCServerError: CustomStringConvertible {
  package var description: String {
    let place = address.map(String.init(describing:)) ?? "the server"
    let cause = errno.map { " (error number \($0))" } ?? ""
    return switch code {
    case .addressInUse: "\(place): the address is in use"
    case .addressNotAvailable: "\(place): the address is not available on this machine"
    case .permissionDenied: "\(place): not permitted to listen there"
    case .unknownHost: "\(place): unknown host"
    case .notASocket: "\(place): the file there is not a socket; it was not removed"
    case .noCertificate: "\(place): no certificate, or no authorities of clients"
    case .alreadyStarted: "the server was started before"
    case .bindFailed: "\(place): cannot listen\(cause)"
    }
  }
}

extension RPCServerError {
  /// Maps an error of binding to a code.
  init(bindingTo address: ServerAddress, cause: any Error) {
    switch cause {
    case let error as IOError:
      self.init(Self.code(for: error.errnoCode), address: address, errno: error.errnoCode)
    case is SocketAddressError.UnknownHost:
      self.init(.unknownHost, address: address)
    default:
      self.init(.bindFailed, address: address)
    }
  }

  private static func code(for errno: CInt) -> Code {
    switch errno {
    case EADDRINUSE: .addressInUse
    case EADDRNOTAVAIL, ENOENT, ENOTDIR: .addressNotAvailable
    case EACCES, EPERM, EROFS: .permissionDenied
    default: .bindFailed
    }
  }
}
