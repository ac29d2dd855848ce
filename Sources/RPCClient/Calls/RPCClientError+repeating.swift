import Wire

// What an error says of the connection, and of another attempt.
extension RPCClientError {
  /// Which failure to tell of a call of several attempts: that of the last one that a server may have
  /// seen, else the last one.
  ///
  /// - Parameter former: what would have been told before this attempt.
  func told(after former: RPCClientError?) -> RPCClientError {
    guard let former, former.wasSent, !wasSent else { return self }
    return former
  }

  /// Whether the same call may succeed when it is made again, and does no harm.
  func allowsRepeat(_ idempotency: Idempotency) -> Bool {
    let isHarmless = idempotency != .unknown || !wasSent
    return switch code {
    case .connectionClosed, .status(.unavailable): isHarmless
    // Without a hint it is a limit that coming again does not change.
    case .status(.resourceExhausted): isHarmless && retryDelay != nil
    // Connecting was tried again for as long as a call waits.
    case .unreachable, .clientClosed, .status: false
    }
  }

  /// A server that is about to stop says so. When to come again is then up to the others.
  var isDraining: Bool {
    errorInfo?.reason == RPCStatus.shuttingDownReason
  }

  /// Of the call that it ended.
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
