package import EntitlementStore
import Synchronization

/// The position of the change feed up to which this node has seen every change, its own and those
/// of other nodes. It decides whether cached answers are served, and how fresh an answer of the
/// store must be.
///
/// ``ChangeFollower`` advances it. Reads check it without a lock.
package final class FeedWatermark: Sendable {
  private struct Waiting {
    var wakeCount: UInt64 = 0
    var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastID: UInt64 = 0
  }

  /// The position before the first poll.
  private static let none: Int64 = -1

  private let timer: ServiceTimer
  private let stalenessNanoseconds: Int64
  private let isFollowed: Bool
  private let required = Atomic<Int64>(none)
  private let followed = Atomic<Int64>(none)
  /// When the last successful poll began, on the timer's clock, in nanoseconds.
  private let lastPoll = Atomic<Int64>(.min)
  private let currentEpoch = Atomic<Int64>(0)
  private let bypasses = Atomic<Int64>(0)
  private let waiting = Mutex(Waiting())

  /// - Parameter staleness: the age of the last poll up to which cached answers are served.
  package convenience init(staleness: Duration, timer: ServiceTimer) {
    self.init(staleness: staleness, timer: timer, isFollowed: true)
  }

  private init(staleness: Duration, timer: ServiceTimer, isFollowed: Bool) {
    self.stalenessNanoseconds = staleness.nanoseconds
    self.timer = timer
    self.isFollowed = isFollowed
  }

  /// For a process that is the only writer of its store and runs no follower. It invalidates cached
  /// answers itself, so they are always current.
  package static func unfollowed() -> FeedWatermark {
    FeedWatermark(staleness: .zero, timer: .system, isFollowed: false)
  }

  // MARK: Reads

  /// Cached answers reflect every change up to this position of the feed; -1 before the first poll.
  package var position: Int64 { followed.load(ordering: .acquiring) }

  /// Whether cached answers may be served: the last poll is within the staleness bound.
  package var isCurrent: Bool {
    guard isFollowed else { return true }
    let last = lastPoll.load(ordering: .acquiring)
    return last != .min && timer.nanoseconds() - last <= stalenessNanoseconds
  }

  /// The freshness that the store needs for an answer that replaces a cached one.
  package var freshness: StoreFreshness {
    isCurrent ? including(.min) : .primary
  }

  /// As ``freshness``, for an answer that must also include a change of the feed.
  package func including(_ sequence: Int64) -> StoreFreshness {
    let position = required.load(ordering: .acquiring)
    guard isFollowed, position != Self.none else { return .primary }
    return .includes(position: max(position, sequence))
  }

  /// The position that every answer which is loaded from now on must include.
  var requiredPosition: Int64 { required.load(ordering: .acquiring) }

  /// Counts a read that went to the store because the last poll was too old.
  func countBypass() {
    bypasses.wrappingAdd(1, ordering: .relaxed)
  }

  var bypassCount: Int64 { bypasses.load(ordering: .relaxed) }

  /// The time since the last successful poll began; nil before the first.
  var lag: Duration? {
    let last = lastPoll.load(ordering: .acquiring)
    return last == .min ? nil : timer.now() - .nanoseconds(last)
  }

  // MARK: Updates

  /// Answers that are loaded from now on must include every change up to `position`. Call it before
  /// the invalidation, as an answer loaded in between would otherwise lack the change. The value
  /// never decreases, so that no write of this node is lost. After a failover that lost changes,
  /// replicas are not used until the feed has reached the value again.
  func require(_ position: Int64) {
    required.max(position, ordering: .releasing)
  }

  /// Every customer that changed up to `position` was invalidated.
  func advance(to position: Int64) {
    followed.store(position, ordering: .releasing)
  }

  /// The follower started or restarted at a position. Changes before a restart may be lost.
  func restart(at position: Int64) {
    currentEpoch.add(1, ordering: .releasing)
    advance(to: position)
  }

  /// How often the follower has started. Positions of another epoch may name other changes.
  var epoch: Int64 { currentEpoch.load(ordering: .acquiring) }

  /// A poll that began at `moment` has read everything that was committed before.
  func recordPoll(begunAt moment: Duration) {
    lastPoll.store(moment.nanoseconds, ordering: .releasing)
  }

  // MARK: Waiting

  /// Counts the calls of ``wake()``.
  var wakeCount: UInt64 { waiting.withLock { $0.wakeCount } }

  /// Returns when ``wakeCount`` is above `count`, or when the task is cancelled.
  func waitForWake(after count: UInt64) async {
    let id = waiting.withLock { waiting in
      waiting.lastID += 1
      return waiting.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = waiting.withLock { waiting in
          if waiting.wakeCount > count || Task.isCancelled { return true }
          waiting.continuations[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      waiting.withLock { $0.continuations.removeValue(forKey: id) }?.resume()
    }
  }

  /// Resumes all waiting tasks. Called when the feed may have grown, and at each tick of the timer.
  func wake() {
    let continuations = waiting.withLock { waiting in
      waiting.wakeCount += 1
      defer { waiting.continuations = [:] }
      return waiting.continuations
    }
    for continuation in continuations.values { continuation.resume() }
  }
}

extension Duration {
  /// Rounded down. Covers 292 years.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
  }
}
