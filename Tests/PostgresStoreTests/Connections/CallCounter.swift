import Synchronization

/// How many are inside something, and were at most.
final class CallCounter: Sendable {
  private let inside = Atomic<Int>(0)
  private let most = Atomic<Int>(0)

  var maximum: Int { most.load(ordering: .relaxed) }

  func enter() {
    let now = inside.add(1, ordering: .relaxed).newValue
    most.max(now, ordering: .relaxed)
  }

  func leave() { inside.subtract(1, ordering: .relaxed) }
}
