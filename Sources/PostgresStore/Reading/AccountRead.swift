import EntitlementDomain
import EntitlementStore
import Synchronization

/// A read of one account, until its caller is answered: once, by what it finds or because the caller
/// waits no more.
final class AccountRead: Sendable {
  typealias Outcome = Result<AccountReads.Found, StoreError>

  private enum State {
    case begun
    case waiting(CheckedContinuation<Outcome, Never>)
    case answered
  }

  let scope: Int64
  let account: AccountID
  let deadline: ContinuousClock.Instant
  private let state = Mutex(State.begun)

  init(scope: Int64, account: AccountID, deadline: ContinuousClock.Instant) {
    self.scope = scope
    self.account = account
    self.deadline = deadline
  }

  var isAnswered: Bool {
    state.withLock { state in
      if case .answered = state { true } else { false }
    }
  }

  /// The caller waits from now on, unless it was cancelled before.
  func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
    let isCancelled = state.withLock { state in
      if case .answered = state { return true }
      state = .waiting(continuation)
      return false
    }
    if isCancelled { continuation.resume(returning: Self.cancelled) }
  }

  /// Whatever comes after the first answer is dropped.
  func answer(_ outcome: Outcome) {
    let waiting = state.withLock { state in
      defer { state = .answered }
      return state
    }
    if case .waiting(let continuation) = waiting { continuation.resume(returning: outcome) }
  }

  func cancel() { answer(Self.cancelled) }

  private static var cancelled: Outcome {
    .failure(StoreError(translating: PostgresFailure(.cancelled, "")))
  }
}
