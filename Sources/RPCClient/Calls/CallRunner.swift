import NIOCore
import Wire

/// Makes the calls of one client: leases a connection, sends the request, and retries within one
/// deadline.
final class CallRunner: Sendable {
  let pool: ConnectionPool
  let budget: RetryBudget
  private let retries: RetryPolicy
  private let hedgingDelay: Duration?

  init(pool: ConnectionPool, retries: RetryPolicy, hedgingDelay: Duration?) {
    self.pool = pool
    self.retries = retries
    self.hedgingDelay = hedgingDelay
    budget = RetryBudget(retries)
  }

  /// Makes one call with up to ``RetryPolicy/maximumAttempts`` attempts.
  ///
  /// - Parameter request: its timeout includes the wait for a connection, all attempts, and the
  ///   waits between them.
  /// - Throws: the error of the last attempt that may have reached a server, else of the last one.
  func run(
    _ request: RPCRequest, _ idempotency: Idempotency
  ) async throws(RPCClientError) -> ByteBuffer {
    let deadline = NIODeadline.after(request.timeout)
    budget.callMade()
    var attempts = 0
    var failedLease: ConnectionPool.Lease?
    var failure: RPCClientError?
    while true {
      let error: RPCClientError
      do throws(RPCClientError) {
        let lease = try await pool.lease(until: deadline, avoiding: failedLease)
        failedLease = lease
        return try await attempt(request, idempotency, over: lease, until: deadline)
      } catch let attemptFailure {
        error = attemptFailure
      }
      attempts += 1
      let reported = error.told(after: failure)
      failure = reported
      guard error.allowsRepeat(idempotency), attempts < retries.maximumAttempts else {
        throw reported
      }
      try await pause(after: error, attempts, until: deadline, failing: reported)
    }
  }

  /// Waits until the next attempt.
  ///
  /// - Throws: `reported` when the deadline or the retry budget allows no further attempt.
  private func pause(
    after error: RPCClientError, _ attempts: Int, until deadline: NIODeadline,
    failing reported: RPCClientError
  ) async throws(RPCClientError) {
    let asked = error.isDraining ? nil : error.retryDelay
    let delay = (asked ?? .zero) + retries.backoff.delay(after: attempts)
    if let rest = deadline.rest(at: .now()), delay >= rest { throw reported }
    guard budget.take() else { throw reported }
    do {
      try await Task.sleep(for: delay)
    } catch {
      throw reported.wasSent ? .cancelled : .cancelled.unsent
    }
  }

  private func attempt(
    _ request: RPCRequest, _ idempotency: Idempotency, over lease: ConnectionPool.Lease,
    until deadline: NIODeadline
  ) async throws(RPCClientError) -> ByteBuffer {
    if let hedgingDelay, idempotency == .noSideEffects {
      return try await hedged(request, over: lease, until: deadline, after: hedgingDelay).get()
    }
    return try await send(request, over: lease, until: deadline).get()
  }

  /// Sends a request, and returns its connection to the pool.
  func send(
    _ request: RPCRequest, over lease: ConnectionPool.Lease, until deadline: NIODeadline
  ) async -> Result<ByteBuffer, RPCClientError> {
    var request = request
    request.timeout = deadline.rest(at: .now())
    let result = await lease.connection.call(request)
    switch result {
    case .success: pool.callEnded(lease, .answered)
    case .failure(let error): pool.callEnded(lease, error.outcome)
    }
    return result
  }
}

extension NIODeadline {
  /// The deadline that is `timeout` from now.
  ///
  /// - Parameter timeout: nil gives the distant future.
  static func after(_ timeout: Duration?) -> NIODeadline {
    timeout.map { .now() + .nanoseconds($0.nanoseconds) } ?? .distantFuture
  }
}
