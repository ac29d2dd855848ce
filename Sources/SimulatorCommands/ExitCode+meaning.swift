import ArgumentParser
import RPCClient
import Wire

extension ExitCode {
  /// The server refused something.
  static let refused = ExitCode(2)
  static let unreachable = ExitCode(3)
  static let notAuthorised = ExitCode(4)

  /// Why a call failed, for the program that called this one.
  init(_ error: RPCClientError) {
    switch error.code {
    case .unreachable, .connectionClosed, .clientClosed: self = .unreachable
    case .status(.unauthenticated), .status(.permissionDenied): self = .notAuthorised
    case .status(.invalidArgument), .status(.notFound), .status(.failedPrecondition):
      self = .refused
    case .status: self = .failure
    }
  }
}
