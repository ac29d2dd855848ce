import Glibc
import NIOCore
import Wire

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
