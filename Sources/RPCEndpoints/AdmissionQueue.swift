import NIOCore

/// Which calls may begin, which wait, and which are turned away: a bound on the work under way, and one
/// on how long calls wait for it. No clock and no I/O: what happened is reported, with its moment.
///
/// A burst waits. When that takes too long, more is asked for than can be done: until calls have not
/// been turned away for a while, none waits for longer than a moment. Whoever is answered is answered
/// soon, and whoever is not learns it while it can still ask another server.
struct AdmissionQueue<Call> {
  enum Verdict: Hashable, Sendable {
    case start, wait, refuse
  }

  /// What became of calls that waited.
  struct Outcome {
    var started: [Call] = []
    var refused: [Call] = []
  }

  private struct Waiting {
    let call: Call
    let cost: Int
    let since: NIODeadline
  }

  private let limits: ReadAdmissionLimits
  private var free: Int
  private var waiting = CircularBuffer<Waiting>()
  /// Until when calls count as too many.
  private var overloadEnd = NIODeadline.distantPast

  init(_ limits: ReadAdmissionLimits) {
    self.limits = limits
    free = limits.places
  }

  /// A call was made. One that may begin takes its places.
  ///
  /// - Parameter cost: places that it takes, from 1 to as many as there are.
  mutating func arrived(_ call: Call, cost: Int, now: NIODeadline) -> Verdict {
    if waiting.isEmpty, free >= cost {
      free -= cost
      return .start
    }
    if turnsAway(now: now) { return .refuse }
    waiting.append(Waiting(call: call, cost: cost, since: now))
    return .wait
  }

  /// Whether a call would have to wait for too long. It then counts as turned away.
  mutating func turnsAway(now: NIODeadline) -> Bool {
    // The first has waited as long as another one would have to, if all goes on as it does.
    let wait = waiting.first.map { now - $0.since } ?? .zero
    if waiting.count < limits.waiting, wait <= patience(now) { return false }
    refused(now)
    return true
  }

  /// A call that began has ended, and gives its places to those that wait.
  mutating func ended(cost: Int, now: NIODeadline) -> Outcome {
    free += cost
    var outcome = Outcome()
    while let first = waiting.first {
      // Those of a burst are answered, however long they have waited.
      if now < overloadEnd, now - first.since > limits.overloadPatience {
        outcome.refused.append(first.call)
        refused(now)
      } else if free >= first.cost {
        free -= first.cost
        outcome.started.append(first.call)
      } else {
        break
      }
      waiting.removeFirst()
    }
    return outcome
  }

  private func patience(_ now: NIODeadline) -> TimeAmount {
    now < overloadEnd ? limits.overloadPatience : limits.burstPatience
  }

  private mutating func refused(_ now: NIODeadline) {
    overloadEnd = now + limits.overloadMemory
  }
}
