package import NIOCore

/// Bounds of the reads that need the store.
package struct ReadLimits: Hashable, Sendable {
  /// Batches of reads in flight at a time: what keeps the store busy without a pause.
  package var permits: Int
  /// Customers of a batch. Bounds how long the first waits for the last.
  package var customersPerBatch = 16
  /// Permits that one read takes at most, so that a large one does not wait until nothing else is in
  /// flight.
  package var permitsPerRead: Int
  /// Reads that wait for a permit. Bounds their memory; time bounds them before.
  package var waiting = 4_096
  /// How long the reads of a burst may wait: more than the store's own hiccups, less than what a person
  /// notices.
  package var burstPatience = TimeAmount.milliseconds(50)
  /// The same in overload. Longer, and a caller learns late that it is refused; shorter, and permits
  /// stay unused between two reads, and refusals go out one by one.
  package var overloadPatience = TimeAmount.milliseconds(2)
  /// With so many customers waiting in overload, large batches are refused before they are decoded,
  /// which would take long compared with a refusal.
  package var waitingInOverload: Int
  /// How long after the last refusal overload lasts.
  package var overloadMemory = TimeAmount.seconds(1)

  package init(permits: Int) {
    self.permits = max(1, permits)
    permitsPerRead = max(1, permits / 2)
    waitingInOverload = 4 * self.permits
  }
}

/// The one limiter of reads, at the store's boundary: which reads begin, which of them share a batch,
/// which wait and which are shed. No clock and no I/O: what happened is reported, with its moment.
///
/// A read that finds a free permit begins at once. While all permits are taken reads wait, and those
/// that wait share the next batch: a statement for 16 customers costs the database about as much as
/// three for one.
///
/// A burst waits, and begins in its order. When that takes too long, more is asked for than can be done:
/// until no read was refused for a while, the newest begins first. Then those that are answered have
/// hardly waited, and the others, as many as would be refused in any order, are refused within a moment,
/// while their callers can still ask another server. They are refused together, a moment's worth at a
/// time: to send each refusal by itself would take its cost from the reads that are answered.
struct ReadLimiter<Read> {
  /// Reads that begin together, and the permits that they give back when they have ended.
  struct Batch {
    var reads: [Read]
    let permits: Int
  }

  struct Outcome {
    var begun: [Batch] = []
    var shed: [Read] = []
  }

  private struct Waiting {
    let read: Read
    let customers: Int
    /// It is refused only when too many wait: its caller limits itself.
    let isPatient: Bool
    let since: NIODeadline
  }

  private let limits: ReadLimits
  private var free: Int
  private var waiting = CircularBuffer<Waiting>()
  private var waitingCustomers = 0
  private var overloadEnd = NIODeadline.distantPast

  init(_ limits: ReadLimits) {
    self.limits = limits
    free = limits.permits
  }

  var waitingCount: Int { waiting.count }

  /// A read has come. Until it is in an outcome, it waits.
  ///
  /// - Parameter customers: how many it reads, at least 1. One that does not fit a batch takes a permit
  ///   for each batch that it fills, up to a limit.
  mutating func arrived(
    _ read: Read, customers: Int, isPatient: Bool = false, now: NIODeadline
  ) -> Outcome {
    if !isOverloaded(now), hasBurstWaitedTooLong(now) { overloadEnd = now + limits.overloadMemory }
    waiting.append(Waiting(read: read, customers: customers, isPatient: isPatient, since: now))
    waitingCustomers += customers
    var outcome = advance(now)
    if waiting.count > limits.waiting {
      outcome.shed.append(takeLast().read)
      overloadEnd = now + limits.overloadMemory
    }
    return outcome
  }

  /// Whether a large batch is to be refused before it is even decoded. It then counts as refused.
  mutating func refusesLargeBatch(now: NIODeadline) -> Bool {
    let isTooMuch =
      isOverloaded(now)
      ? waitingCustomers >= limits.waitingInOverload : hasBurstWaitedTooLong(now)
    guard isTooMuch || (free == 0 && waiting.count >= limits.waiting) else { return false }
    overloadEnd = now + limits.overloadMemory
    return true
  }

  /// A batch has ended, and gives its permits to reads that wait.
  mutating func ended(permits: Int, now: NIODeadline) -> Outcome {
    free += permits
    return advance(now)
  }

  /// Time has passed.
  mutating func advance(_ now: NIODeadline) -> Outcome {
    var outcome = Outcome()
    let isOverloaded = isOverloaded(now)
    let oldest = now - limits.overloadPatience
    while free > 0, let first = waiting.first {
      let newestFirst = isOverloaded && !(first.isPatient && first.since < oldest)
      guard let batch = nextBatch(newestFirst: newestFirst) else { break }
      outcome.begun.append(batch)
    }
    if isOverloaded, let first = waiting.first, first.since < oldest {
      let latest = now - .nanoseconds(limits.overloadPatience.nanoseconds / 2)
      while let first = waiting.first, first.since < latest, !first.isPatient {
        // No read is refused that finds its permits, though a newer one waits for more of them.
        if permits(for: first.customers) <= free, let batch = nextBatch(newestFirst: false) {
          outcome.begun.append(batch)
        } else {
          outcome.shed.append(takeFirst().read)
        }
      }
      if !outcome.shed.isEmpty { overloadEnd = now + limits.overloadMemory }
    }
    return outcome
  }

  /// Takes the reads that share the next batch; nil when the next read needs more permits than are
  /// free, and keeps its turn.
  private mutating func nextBatch(newestFirst: Bool) -> Batch? {
    var reads: [Read] = []
    var customers = 0
    while let next = newestFirst ? waiting.last : waiting.first {
      guard customers == 0 || customers + next.customers <= limits.customersPerBatch else { break }
      guard permits(for: next.customers) <= free else { break }
      reads.append((newestFirst ? takeLast() : takeFirst()).read)
      customers += next.customers
    }
    if reads.isEmpty { return nil }
    let permits = permits(for: customers)
    free -= permits
    return Batch(reads: reads, permits: permits)
  }

  private func permits(for customers: Int) -> Int {
    let filled = (customers + limits.customersPerBatch - 1) / limits.customersPerBatch
    return min(max(1, filled), limits.permitsPerRead)
  }

  /// It has waited as long as another one would have to, if all goes on as it does.
  private func hasBurstWaitedTooLong(_ now: NIODeadline) -> Bool {
    waiting.first.map { now - $0.since > limits.burstPatience } ?? false
  }

  private mutating func takeFirst() -> Waiting { taken(waiting.removeFirst()) }

  private mutating func takeLast() -> Waiting { taken(waiting.removeLast()) }

  private mutating func taken(_ next: Waiting) -> Waiting {
    waitingCustomers -= next.customers
    return next
  }

  private func isOverloaded(_ now: NIODeadline) -> Bool { now < overloadEnd }
}

extension ReadLimiter.Batch: Sendable where Read: Sendable {}

extension ReadLimiter.Outcome: Sendable where Read: Sendable {}
