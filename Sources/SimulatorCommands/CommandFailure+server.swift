import Programs
import RPCClient
import Wire

// Beside `failed`: a contract.
extension CommandFailure.Reason {
  /// The server refused something.
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
      case .status(.invalidArgument), .status(.notFound), .status(.failedPrecondition): .refused
      case .status: .failed
      }
    self.init(reason, error.description)
  }
}
