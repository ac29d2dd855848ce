package import NIOCore
import Synchronization
import Wire

/// Bounds of the reads that are not answered from memory on the event loop.
package struct ReadAdmissionLimits: Hashable, Sendable {
  /// Reads under way at a time. What the store takes at once keeps it busy; more would only wait there,
  /// each with a task and its memory.
  package var places: Int
  /// Reads that wait for a place. Bounds their memory; time bounds them before.
  package var waiting = 4_096
  /// How long the reads of a burst may wait: more than the store's own hiccups, less than what a person
  /// notices.
  package var burstPatience = TimeAmount.milliseconds(50)
  /// The same as long as there are too many: about what a read takes. With more, all that are answered
  /// would have waited that much longer, and none more would be answered; with none, places would stand
  /// empty between two calls.
  package var overloadPatience = TimeAmount.milliseconds(2)
  /// How long after the last refusal there still are too many.
  package var overloadMemory = TimeAmount.seconds(1)

  package init(places: Int) {
    self.places = max(1, places)
  }
}

/// Lets reads begin when it is their turn, and turns them away when there are too many.
package final class ReadAdmission: Sendable {
  /// One read, from its admission on.
  private struct Call: Sendable {
    let start: @Sendable () -> Void
    let refuse: @Sendable () -> Void
  }

  private let places: Int
  private let queue: Mutex<AdmissionQueue<Call>>

  /// A batch of so many customers counts as one read: the store finds about as many at once.
  package static let customersPerPlace = 16

  package init(_ limits: ReadAdmissionLimits) {
    places = limits.places
    queue = Mutex(AdmissionQueue(limits))
  }

  /// Has a read of so many customers begin now, later, or never.
  ///
  /// - Parameters:
  ///   - start: called at once or from another thread; must not block, and is given what it has to
  ///     call once when the read has ended.
  ///   - refuse: called in place of it.
  func admit(
    customers: Int, start: @escaping @Sendable (_ ended: @escaping @Sendable () -> Void) -> Void,
    refuse: @escaping @Sendable () -> Void
  ) {
    let filled = (customers + Self.customersPerPlace - 1) / Self.customersPerPlace
    let cost = min(max(1, filled), places)
    let call = Call(start: { start { self.ended(cost) } }, refuse: refuse)
    switch queue.withLock({ $0.arrived(call, cost: cost, now: .now()) }) {
    case .start: call.start()
    case .wait: break
    case .refuse: call.refuse()
    }
  }

  /// Whether a read that comes now must be refused: known before it is even decoded.
  var turnsAway: Bool { queue.withLock { $0.turnsAway(now: .now()) } }

  private func ended(_ cost: Int) {
    let outcome = queue.withLock { $0.ended(cost: cost, now: .now()) }
    for call in outcome.started { call.start() }
    for call in outcome.refused { call.refuse() }
  }
}

extension RPCStatus {
  /// More is read than can be answered in time.
  static let tooManyReads = RPCStatus(
    .resourceExhausted, "more is read than can be answered in time",
    errorInfo: ErrorInfo(reason: "OVERLOADED", domain: "entitle"),
    retryDelay: .milliseconds(200))
}
