/// Somebody who waits for a session, on the pool's thread.
struct WaitingSession {
  let request: SessionRequest
  private let continuation: SessionContinuation

  init(_ request: SessionRequest, continuation: SessionContinuation) {
    self.request = request
    self.continuation = continuation
  }

  /// Called once.
  func answer(_ result: Result<Int, PostgresFailure>) { continuation.resume(returning: result) }
}
