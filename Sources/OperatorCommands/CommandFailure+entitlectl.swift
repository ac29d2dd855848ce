import Programs
import RPCClient
import Wire

// Exit codes of `entitlectl` in addition to `failed`. They are a documented contract.
extension CommandFailure.Reason {
  /// Refused by the server, or not found.
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
      // The server's configuration does not allow imports. The import itself was not refused.
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

extension CommandFailure {
  /// Prints the message to stderr, if there is one.
  func report() {
    if let message { Self.printMessage(message) }
  }

  /// Prints a message to stderr, after the name of the program.
  static func printMessage(_ message: String) {
    StandardError.write("entitlectl: \(TerminalText.escaped(message, keepsLines: true))")
  }
}
