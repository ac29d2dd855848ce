extension PoolLoop {
  func closeWanted(_ continuation: UnsafeContinuation<Void, Never>?) {
    if closing == nil {
      closing = PoolClosing(deadline: .now + limits.closeTimeout)
      refuseWaiting()
      for listener in listeners.values { listenerRemoved(listener.handle) }
    }
    if let continuation { closing?.continuations.append(continuation) }
  }

  /// Whether it was asked to close, and nobody is busy or may be any longer.
  func isClosed(at now: ContinuousClock.Instant) -> Bool {
    guard let closing else { return false }
    return closing.deadline <= now
      || leases.isEmpty && waitingReads.isEmpty && connections.allSatisfy(\.isIdle)
  }

  /// Closes everything, and answers everybody.
  func finish() {
    let failure = PostgresFailure(.closed, "the pool was closed", wasSent: true)
    for connection in connections { drop(connection, because: failure) }
    refuseWaiting()
    leases = [:]
    mailbox.finish()
    for continuation in closing?.continuations ?? [] { continuation.resume() }
    closing?.continuations = []
  }

  private func refuseWaiting() {
    let failure = PostgresFailure(.closed, "the pool is closed")
    for pending in waitingReads.popAll() { pending.fail(failure.sent(pending.attempts > 0)) }
    for waiting in waitingSessions.popAll() { waiting.answer(.failure(failure)) }
  }
}
