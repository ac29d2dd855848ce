import Framing
import Wire

// Retry decisions, and the outcome of a failed call for its connection.
extension RPCClientError {
  /// The failure to report for a call of several attempts: the last one whose request may have
  /// reached a server, else the last one.
  ///
  /// - Parameter former: the failure to report before this attempt.
  func told(after former: RPCClientError?) -> RPCClientError {
    guard let former, former.wasSent, !wasSent else { return self }
    return former
  }

  /// Whether another attempt of the same call may succeed and cannot change anything twice.
  func allowsRepeat(_ idempotency: Idempotency) -> Bool {
    let isHarmless = idempotency != .unknown || !wasSent
    return switch code {
    case .connectionClosed, .status(.unavailable): isHarmless
    // Without a retry delay it is a fixed limit, at which the next attempt fails too.
    case .status(.resourceExhausted): isHarmless && retryDelay != nil
    // Connecting was already tried again for as long as a call waits.
    case .unreachable, .clientClosed, .status: false
    }
  }

  /// The server is about to stop. Its retry delay does not apply to the other servers.
  var isDraining: Bool {
    errorInfo?.reason == RPCStatus.shuttingDownReason
  }

  /// The outcome of the failed call for its connection.
  var outcome: ConnectionPool.State.Outcome {
    if isDraining { return .draining }
    return switch code {
    case .connectionClosed: .closed
    case .status where self == .deadlineExceeded: .silent
    case .status where self == .cancelled: .givenUp
    case .status where wasSent: .answered
    case .status, .unreachable, .clientClosed: .unknown
    }
  }
}
