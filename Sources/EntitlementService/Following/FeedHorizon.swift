package import EntitlementStore
import Synchronization

/// How far this node knows what was written, by itself and by others: what decides whether answers
/// in memory count, and how new the others must be.
///
/// ``ChangeFollower`` moves it; reads look at it without a lock.
package final class FeedHorizon: Sendable {
  private struct Waiting {
    var count: UInt64 = 0
    var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastID: UInt64 = 0
  }

  /// Stands for "no look yet".
  private static let none: Int64 = -1

  private let timer: ServiceTimer
  private let stalenessNanoseconds: Int64
  private let isFollowed: Bool
  private let required = Atomic<Int64>(none)
  private let followed = Atomic<Int64>(none)
  /// On the timer's clock, in nanoseconds.
  private let lastLook = Atomic<Int64>(.min)
  private let beginnings = Atomic<Int64>(0)
  private let bypasses = Atomic<Int64>(0)
  private let waiting = Mutex(Waiting())

  /// - Parameter staleness: how old the last look may be for answers in memory to count.
  package convenience init(staleness: Duration, timer: ServiceTimer) {
    self.init(staleness: staleness, timer: timer, isFollowed: true)
  }

  private init(staleness: Duration, timer: ServiceTimer, isFollowed: Bool) {
    self.stalenessNanoseconds = staleness.nanoseconds
    self.timer = timer
    self.isFollowed = isFollowed
  }

  /// For a process that alone writes to its store, and that nothing follows: what it drops by itself
  /// is all that goes out of date.
  package static func unfollowed() -> FeedHorizon {
    FeedHorizon(staleness: .zero, timer: .system, isFollowed: false)
  }

  // MARK: What reads ask

  /// Everything in memory reflects every change up to this position of the feed; -1 before the first
  /// look.
  package var position: Int64 { followed.load(ordering: .acquiring) }

  /// Whether what others wrote is known well enough for answers in memory to count.
  package var isCurrent: Bool {
    guard isFollowed else { return true }
    let last = lastLook.load(ordering: .acquiring)
    return last != .min && timer.nanoseconds() - last <= stalenessNanoseconds
  }

  /// How new an answer must be that the store gives in place of one in memory.
  package var freshness: StoreFreshness {
    isCurrent ? including(.min) : .primary
  }

  /// The same for one that must hold a change of the feed.
  package func including(_ sequence: Int64) -> StoreFreshness {
    let position = required.load(ordering: .acquiring)
    guard isFollowed, position != Self.none else { return .primary }
    return .includes(position: max(position, sequence))
  }

  /// What every answer of the store that is asked for from now on holds.
  var requiredPosition: Int64 { required.load(ordering: .acquiring) }

  /// Counts a read that could not be answered from memory since nothing is current.
  func bypassed() {
    bypasses.wrappingAdd(1, ordering: .relaxed)
  }

  var bypassCount: Int64 { bypasses.load(ordering: .relaxed) }

  /// The time since the last look began that saw all; nil before the first.
  var lag: Duration? {
    let last = lastLook.load(ordering: .acquiring)
    return last == .min ? nil : timer.now() - .nanoseconds(last)
  }

  // MARK: What the follower and the use cases say

  /// Answers that are loaded from now on hold every change up to here. Said before those in memory
  /// are dropped: one that is loaded in between would otherwise lack what it was dropped for. Never
  /// goes back, so that no write of this node is forgotten: after a failover that lost changes, copies
  /// of the database are passed over until the feed is as far again.
  func require(_ position: Int64) {
    required.max(position, ordering: .releasing)
  }

  /// Everything that changed up to here was dropped.
  func followed(to position: Int64) {
    followed.store(position, ordering: .releasing)
  }

  /// Following has begun at a position, perhaps anew: then what was there before may be lost.
  func began(at position: Int64) {
    beginnings.add(1, ordering: .releasing)
    followed(to: position)
  }

  /// How often following has begun.
  var beginningCount: Int64 { beginnings.load(ordering: .acquiring) }

  /// A look that began at `moment` has seen all that was committed before.
  func looked(at moment: Duration) {
    lastLook.store(moment.nanoseconds, ordering: .releasing)
  }

  // MARK: Waiting

  /// Counts the times that something may have come, or time has passed.
  var turns: UInt64 { waiting.withLock { $0.count } }

  /// Returns once ``turns`` is more than `count`, or the task is cancelled.
  func turn(after count: UInt64) async {
    let id = waiting.withLock { waiting in
      waiting.lastID += 1
      return waiting.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = waiting.withLock { waiting in
          if waiting.count > count || Task.isCancelled { return true }
          waiting.continuations[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      waiting.withLock { $0.continuations.removeValue(forKey: id) }?.resume()
    }
  }

  /// Lets everybody look who waits.
  func wake() {
    let continuations = waiting.withLock { waiting in
      waiting.count += 1
      defer { waiting.continuations = [:] }
      return waiting.continuations
    }
    for continuation in continuations.values { continuation.resume() }
  }
}

extension Duration {
  /// Rounded down. Fits for 292 years.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
