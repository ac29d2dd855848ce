import Programs
import RPCClient
import Wire

// Beside `failed`: a contract.
extension CommandFailure.Reason {
  /// Or not found.
  static let refused = Self(exitCode: 2)
  static let unreachable = Self(exitCode: 3)
  static let notAuthorised = Self(exitCode: 4)
}

extension CommandFailure {
  init(_ error: RPCClientError) {
    let reason: Reason =
      switch error.code {
      case .unreachable, .connectionClosed, .clientClosed: .unreachable
      case .status(.unauthenticated), .status(.permissionDenied): .notAuthorised
      // How the server is set up is no verdict on what it was asked.
      case .status(.failedPrecondition)
      where error.errorInfo?.reason == "ARCHIVED_RESPONSES_NOT_ACCEPTED":
        .failed
      case .status(.notFound), .status(.alreadyExists), .status(.failedPrecondition),
        .status(.outOfRange):
        .refused
      case .status: .failed
      }
    self.init(reason, error.description)
  }
}
