import Glibc
import NIOCore
package import Wire

/// Why a server could not start.
package struct RPCServerError: Error, Hashable, Sendable {
  package enum Code: Hashable, Sendable {
    /// Another server answers there.
    case addressInUse
    /// The address is not one of this machine, or the folder of a Unix socket does not exist.
    case addressNotAvailable
    /// A privileged port, or a folder that may not be written.
    case permissionDenied
    /// The host name has no address.
    case unknownHost
    /// Something that is not a socket is at the Unix socket's path; it is left alone.
    case notASocket
    /// The server was started or stopped before.
    case alreadyStarted
    /// Another refusal of the operating system.
    case bindFailed
  }

  package let code: Code
  /// Which of the addresses it was.
  package let address: ServerAddress?
  /// The operating system's error number, if it was the cause.
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
    case .unknownHost: "\(place): the host is not known"
    case .notASocket: "\(place): the file there is not a socket; it was left alone"
    case .alreadyStarted: "the server was started before"
    case .bindFailed: "\(place): cannot listen\(cause)"
    }
  }
}

extension RPCServerError {
  /// Tells apart what can go wrong when binding.
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
