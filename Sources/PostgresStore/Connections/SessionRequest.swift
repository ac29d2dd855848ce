import Synchronization

/// Somebody who wants a session.
final class SessionRequest: Sendable {
  let deadline: ContinuousClock.Instant
  private let cancellation = Atomic<Bool>(false)

  init(within limit: Duration) { deadline = .now + limit }

  var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  func cancel() { cancellation.store(true, ordering: .relaxed) }
}
