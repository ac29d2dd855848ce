import ClientOptions
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
      // Whatever the code: Apple has decided.
      case .status where error.errorInfo?.reason == "APP_STORE_REFUSED": .refused
      case .status(.notFound), .status(.alreadyExists), .status(.failedPrecondition),
        .status(.outOfRange):
        .refused
      case .status: .failed
      }
    self.init(reason, error.description + Self.advice(on: error))
  }

  /// What the user can do about a refusal; empty for all others.
  private static func advice(on error: RPCClientError) -> String {
    let wait = error.retryDelay.map { delay in
      let tenths = Int64((delay / .milliseconds(100)).rounded(.up))
      return "; try again in \(tenths / 10).\(tenths % 10) s"
    }
    switch error.errorInfo?.reason {
    case "CREDENTIAL_MISSING":
      return "; a token is given by --token-file, the environment's \(TokenOptions.variable) or a "
        + "context"
    case "CREDENTIAL_REFUSED":
      return "; entitlectl token create makes another token, for the server's file of credentials"
    case "PERMISSION_MISSING", "APP_NOT_PERMITTED":
      return "; entitlectl whoami shows what you may do"
    case "RATE_LIMITED", "TOO_MANY_CALLS", "TOO_MANY_CONNECTIONS":
      return "; this is a limit of the caller, see entitlectl whoami" + (wait ?? "")
    case "APP_STORE_RATE_LIMITED", "TOO_MANY_APP_STORE_CALLS", "OFFER_LIMIT":
      return wait ?? ""
    default:
      return ""
    }
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
