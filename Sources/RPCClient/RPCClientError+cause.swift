import Framing
import Glibc
import NIOCore
import NIOPosix

extension RPCClientError {
  /// The error for a failed attempt to connect.
  init(connectingTo address: ServerAddress, cause: any Error) {
    self.init(.unreachable, "\(address): \(Self.reason(of: cause))")
  }

  private static func reason(of cause: any Error) -> String {
    switch cause {
    case let error as NIOConnectionError:
      if let attempt = error.connectionErrors.first {
        return reason(of: attempt.error)
      }
      return "unknown host"
    case let fault as TLSFault:
      return fault.text
    case let error as RPCClientError:
      return error.message
    case let error as IOError:
      return reason(errno: error.errnoCode)
    case ChannelError.connectTimeout:
      return "timed out"
    case is SocketAddressError:
      return "not a valid address"
    default:
      return "cannot connect"
    }
  }

  private static func reason(errno: CInt) -> String {
    switch errno {
    case ECONNREFUSED: "connection refused"
    case ENOENT: "there is no such socket"
    case EACCES, EPERM: "permission denied"
    case ETIMEDOUT: "timed out"
    case EHOSTUNREACH, ENETUNREACH: "no route to the host"
    default: "cannot connect (error number \(errno))"
    }
  }
}
