import Programs
import RPCClient

// Beside `failed`: a contract.
extension CommandFailure.Reason {
  static let unreachable = Self(exitCode: 69)
  static let interrupted = Self(exitCode: 130)
}

extension CommandFailure {
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
      throw CommandFailure(error)
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }
}
