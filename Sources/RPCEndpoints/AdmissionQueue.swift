import NIOCore

/// Which calls may begin, which wait, and which are turned away: a bound on the work under way, and one
/// on how long calls wait for it. No clock and no I/O: what happened is reported, with its moment.
///
/// A burst waits, and begins in its order. When that takes too long, more is asked for than can be done:
/// until calls have not been turned away for a while, the newest begins first. Then those that are
/// answered have hardly waited, and the others, as many as would be turned away in any order, are so
/// within a moment, while they can still ask another server. They go together, a moment's worth at a
/// time: to send each refusal by itself would take its cost from those that are answered.
struct AdmissionQueue<Call> {
  /// What became of calls: of one that was made, and of those that waited.
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
  /// Places that those who wait will take.
  private var waitingCost = 0
  /// Until when calls count as too many.
  private var overloadEnd = NIODeadline.distantPast

  init(_ limits: ReadAdmissionLimits) {
    self.limits = limits
    free = limits.places
  }

  /// A call was made. Until it is in an outcome, it waits.
  ///
  /// - Parameter cost: places that it takes, from 1 to as many as there are.
  mutating func arrived(_ call: Call, cost: Int, now: NIODeadline) -> Outcome {
    if !isOverloaded(now), hasBurstWaitedTooLong(now) { refused(now) }
    waiting.append(Waiting(call: call, cost: cost, since: now))
    waitingCost += cost
    var outcome = advance(now)
    if waiting.count > limits.waiting {
      outcome.refused.append(takeLast())
      refused(now)
    }
    return outcome
  }

  /// Whether a call is to be turned away before it is even looked at. It then counts as one.
  mutating func turnsAway(now: NIODeadline) -> Bool {
    let isTooMuch =
      isOverloaded(now) ? waitingCost >= limits.waitingInOverload : hasBurstWaitedTooLong(now)
    guard isTooMuch || (free == 0 && waiting.count >= limits.waiting) else { return false }
    refused(now)
    return true
  }

  /// Calls that began have ended, and give their places to those that wait.
  mutating func ended(cost: Int, now: NIODeadline) -> Outcome {
    free += cost
    return advance(now)
  }

  /// Time has passed.
  mutating func advance(_ now: NIODeadline) -> Outcome {
    var outcome = Outcome()
    let isOverloaded = isOverloaded(now)
    // First, and again below, so that nobody is turned away while there is a place.
    while let next = isOverloaded ? waiting.last : waiting.first, next.cost <= free {
      free -= next.cost
      outcome.started.append(isOverloaded ? takeLast() : takeFirst())
    }
    if isOverloaded, let first = waiting.first, now - first.since > limits.overloadPatience {
      let latest = now - .nanoseconds(limits.overloadPatience.nanoseconds / 2)
      while let first = waiting.first, first.since < latest {
        if first.cost <= free {
          free -= first.cost
          outcome.started.append(takeFirst())
        } else {
          outcome.refused.append(takeFirst())
        }
      }
      if !outcome.refused.isEmpty { refused(now) }
    }
    return outcome
  }

  /// It has waited as long as another one would have to, if all goes on as it does.
  private func hasBurstWaitedTooLong(_ now: NIODeadline) -> Bool {
    waiting.first.map { now - $0.since > limits.burstPatience } ?? false
  }

  private mutating func takeFirst() -> Call { taken(waiting.removeFirst()) }

  private mutating func takeLast() -> Call { taken(waiting.removeLast()) }

  private mutating func taken(_ waiting: Waiting) -> Call {
    waitingCost -= waiting.cost
    return waiting.call
  }

  private func isOverloaded(_ now: NIODeadline) -> Bool { now < overloadEnd }

  private mutating func refused(_ now: NIODeadline) {
    overloadEnd = now + limits.overloadMemory
  }
}
