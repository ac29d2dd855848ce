import EntitlementStore

/// Why no attempt to commit some jobs succeeded.
struct BatchFailure: Error {
  enum Cause {
    /// The database is in reach, and refuses something of what the jobs want.
    case content
    /// A lock was not free for as long as it is waited for.
    case locks
    /// A statement was not done in time.
    case statementTime
    /// There was no answer in time, or none that tells the outcome.
    case time
    /// There is no connection, nor will there be one soon.
    case reach
    case protocolViolation
  }

  let failure: StoreError
  let cause: Cause

  init(_ failure: StoreError, cause: Cause = .content) {
    self.failure = failure
    self.cause = cause
  }

  init(_ failure: PostgresFailure) {
    self.failure = StoreError(translating: failure)
    cause =
      switch failure.kind {
      case .server(.lockNotAvailable): .locks
      case .server(.queryCanceled): .statementTime
      // It stops, or is a standby since: what it said on the last attempt.
      case .server where failure.isServerLeaving: .time
      case .server: .content
      case .connectionLost, .timedOut, .overloaded, .cancelled: .time
      case .cannotConnect, .poolTimedOut, .closed: .reach
      case .protocolViolation: .protocolViolation
      }
  }

  static let unresolved = BatchFailure(
    StoreError(
      .unavailable,
      "the connection was lost in the middle of a commit, and whether it was done could not be "
        + "found out; submitting the same again is safe"), cause: .time)
}
