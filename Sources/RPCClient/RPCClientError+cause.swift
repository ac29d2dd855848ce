import Glibc
import NIOCore
import NIOPosix
import Wire

extension RPCClientError {
  /// Why connecting failed.
  init(connectingTo address: ServerAddress, cause: any Error) {
    self.init(.unreachable, "\(address): \(Self.reason(of: cause))")
  }

  private static func reason(of cause: any Error) -> String {
    switch cause {
    case let error as NIOConnectionError:
      if let attempt = error.connectionErrors.first {
        return reason(of: attempt.error)
      }
      return "the host is not known"
    case let error as IOError:
      return reason(errno: error.errnoCode)
    case ChannelError.connectTimeout:
      return "no answer in time"
    case is SocketAddressError:
      return "not a usable address"
    default:
      return "cannot connect"
    }
  }

  private static func reason(errno: CInt) -> String {
    switch errno {
    case ECONNREFUSED: "nobody listens there"
    case ENOENT: "there is no such socket"
    case EACCES, EPERM: "not permitted"
    case ETIMEDOUT: "no answer in time"
    case EHOSTUNREACH, ENETUNREACH: "no route to it"
    default: "cannot connect (error number \(errno))"
    }
  }
}
