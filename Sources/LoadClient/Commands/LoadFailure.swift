import RPCClient
import Wire

/// Why a command did not do what it was asked, with the exit code that says so.
struct LoadFailure: Error {
  /// Raw values are exit codes: a contract.
  enum Reason: Int32 {
    case failed = 1
    case unreachable = 69
    case interrupted = 130
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
      case .unreachable, .connectionClosed: .unreachable
      case .clientClosed, .status: .failed
      }
    self.init(reason, error.description)
  }

  /// Runs `body`, whose failures become those of the command.
  static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as RPCClientError {
      throw LoadFailure(error)
    } catch let error as LoadFailure {
      throw error
    } catch {
      throw LoadFailure(.failed, "\(error)")
    }
  }
}
