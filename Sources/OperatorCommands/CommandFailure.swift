import RPCClient
import Wire

/// Why a command did not do what it was asked, with the exit code that says so.
struct CommandFailure: Error {
  /// Raw values are exit codes: a contract.
  enum Reason: Int32 {
    case failed = 1
    case refused = 2
    case unreachable = 3
    case notAuthorised = 4
  }

  let reason: Reason
  /// For people; nil when there is nothing to tell.
  let message: String?

  init(_ reason: Reason, _ message: String?) {
    self.reason = reason
    self.message = message
  }

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

  /// Tells people, if there is something to tell.
  func report() {
    guard let message else { return }
    StandardError.write("entitlectl: \(TerminalText.visible(message, keepsLines: true))")
  }
}
