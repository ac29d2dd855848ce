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
  /// The same as long as there are too many. Longer, and whoever is refused learns it late; shorter, and
  /// places stand empty between two calls, and refusals go out one by one.
  package var overloadPatience = TimeAmount.milliseconds(2)
  /// With so many places' worth waiting then, large batches are turned away before they are decoded,
  /// which would take long beside a refusal.
  package var waitingInOverload: Int
  /// How long after the last refusal there still are too many.
  package var overloadMemory = TimeAmount.seconds(1)

  package init(places: Int) {
    self.places = max(1, places)
    waitingInOverload = max(1, places / 4)
  }
}

/// Lets reads begin when it is their turn, and turns them away when there are too many.
package final class ReadAdmission: Sendable {
  /// One read, from its admission on.
  private struct Call: Sendable {
    let cost: Int
    let start: Start
    let refuse: @Sendable () -> Void
  }

  /// Begins a read, which has to call `ended` once, later, from whatever thread.
  ///
  /// - Returns: false when nobody waits for it any more: it has not begun, and does not end.
  typealias Start = @Sendable (_ ended: @escaping @Sendable () -> Void) -> Bool

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
  ///   - start: called at once or from another thread; must not block.
  ///   - refuse: called in place of it.
  func admit(
    customers: Int, start: @escaping Start, refuse: @escaping @Sendable () -> Void
  ) {
    let filled = (customers + Self.customersPerPlace - 1) / Self.customersPerPlace
    let cost = min(max(1, filled), places)
    let call = Call(cost: cost, start: start, refuse: refuse)
    settle(queue.withLock { $0.arrived(call, cost: cost, now: .now()) })
  }

  /// Whether a large batch that comes now must be refused: known before it is even decoded.
  var turnsAway: Bool {
    let (turnsAway, outcome) = queue.withLock { queue in
      let now = NIODeadline.now()
      return (queue.turnsAway(now: now), queue.advance(now))
    }
    settle(outcome)
    return turnsAway
  }

  private func ended(_ cost: Int) {
    settle(queue.withLock { $0.ended(cost: cost, now: .now()) })
  }

  /// A loop, since thousands in a row may not be waited for any more.
  private func settle(_ outcome: AdmissionQueue<Call>.Outcome) {
    var outcome = outcome
    while true {
      for call in outcome.refused { call.refuse() }
      var unwanted = 0
      for call in outcome.started where !begin(call) { unwanted += call.cost }
      if unwanted == 0 { return }
      outcome = queue.withLock { $0.ended(cost: unwanted, now: .now()) }
    }
  }

  private func begin(_ call: Call) -> Bool { call.start { self.ended(call.cost) } }
}

extension RPCStatus {
  /// More is read than can be answered in time.
  static let tooManyReads = RPCStatus(
    .resourceExhausted, "more is read than can be answered in time",
    errorInfo: ErrorInfo(reason: "OVERLOADED", domain: "entitle"),
    retryDelay: .milliseconds(200))
}
