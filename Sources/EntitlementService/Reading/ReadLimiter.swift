package import NIOCore

/// Limits on reads that need the store.
package struct ReadLimits: Hashable, Sendable {
  /// Batches in flight at a time: enough to keep the store busy.
  package var permits: Int
  /// Customers in a batch. Bounds how long the first waits for the last.
  package var customersPerBatch = 16
  /// The most permits that one read takes, so that a large read need not wait until nothing else is
  /// in flight.
  package var permitsPerRead: Int
  /// Reads that wait for a permit. Bounds their memory; the time limits usually take effect
  /// earlier.
  package var waiting = 4_096
  /// How long reads of a burst may wait: longer than short pauses of the store, shorter than a
  /// person notices.
  package var burstPatience = TimeAmount.milliseconds(50)
  /// How long reads may wait in overload. If it were longer, callers would learn of a refusal late.
  /// If it were shorter, permits would stay unused between two reads, and refusals would be sent
  /// one by one.
  package var overloadPatience = TimeAmount.milliseconds(2)
  /// In overload, large batches are refused before they are decoded while this many customers wait:
  /// decoding takes long compared with a refusal.
  package var waitingInOverload: Int
  /// How long overload lasts after the last refusal.
  package var overloadMemory = TimeAmount.seconds(1)

  package init(permits: Int) {
    self.permits = max(1, permits)
    permitsPerRead = max(1, permits / 2)
    waitingInOverload = 4 * self.permits
  }
}

/// The only limiter of reads, at the store's boundary. It decides which reads begin, share a batch,
/// wait or are shed. A pure state machine: the caller reports events with their time.
///
/// A read begins when a permit is free. Reads wait while all permits are taken, and waiting reads
/// share the next batch: a statement for 16 customers costs the database about as much as three
/// statements for one customer each.
///
/// Reads of a burst wait and begin in order of arrival. If that takes too long, the server is
/// overloaded. Until no read has been shed for a while, the newest read begins first. Reads that
/// are answered have then hardly waited. The others are shed within milliseconds, while their
/// callers can still ask another server; in any other order as many would be shed. Reads are shed
/// in groups, since sending each refusal alone would take processor time from reads that are
/// answered.
struct ReadLimiter<Read> {
  /// Reads that begin together, and the permits to return when they have ended.
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
    /// A patient read is shed only if too many wait: its caller limits itself.
    let isPatient: Bool
    let since: NIODeadline
  }

  let limits: ReadLimits
  private var free: Int
  private var waiting = CircularBuffer<Waiting>()
  private var waitingCustomers = 0
  private var overloadEnd = NIODeadline.distantPast

  init(_ limits: ReadLimits) {
    self.limits = limits
    free = limits.permits
  }

  var waitingCount: Int { waiting.count }

  var permitsInUse: Int { limits.permits - free }

  /// Whether the waiting reads would use all permits: it gains nothing to wait for more reads before
  /// ``advance(_:)``.
  var canUseAllPermits: Bool { waitingCustomers >= limits.permits * limits.customersPerBatch }

  /// A read has arrived. It waits until an outcome contains it: call ``advance(_:)`` once all reads
  /// that arrive together are reported, so that they share batches.
  ///
  /// - Parameter customers: the number of customers it reads, at least 1. A read that does not fit in
  ///   one batch takes a permit for each batch it fills, up to ``ReadLimits/permitsPerRead``.
  mutating func arrived(
    _ read: Read, customers: Int, isPatient: Bool = false, now: NIODeadline
  ) {
    if !isOverloaded(now), hasBurstWaitedTooLong(now) { overloadEnd = now + limits.overloadMemory }
    waiting.append(Waiting(read: read, customers: customers, isPatient: isPatient, since: now))
    waitingCustomers += customers
  }

  /// Whether a large batch is refused before it is decoded. The refusal counts as one of overload.
  mutating func refusesLargeBatch(now: NIODeadline) -> Bool {
    let isTooMuch =
      isOverloaded(now)
      ? waitingCustomers >= limits.waitingInOverload : hasBurstWaitedTooLong(now)
    guard isTooMuch || (free == 0 && waiting.count >= limits.waiting) else { return false }
    overloadEnd = now + limits.overloadMemory
    return true
  }

  /// A batch has ended. Its permits go to waiting reads.
  mutating func ended(permits: Int, now: NIODeadline) -> Outcome {
    free += permits
    return advance(now)
  }

  /// Begins reads while permits are free, and sheds reads that have waited too long.
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
        // A read that finds its permits is not shed, even if a newer one waits for more permits.
        if permits(for: first.customers) <= free, let batch = nextBatch(newestFirst: false) {
          outcome.begun.append(batch)
        } else {
          outcome.shed.append(takeFirst().read)
        }
      }
      if !outcome.shed.isEmpty { overloadEnd = now + limits.overloadMemory }
    }
    while waiting.count > limits.waiting {
      outcome.shed.append(takeLast().read)
      overloadEnd = now + limits.overloadMemory
    }
    return outcome
  }

  /// Takes the reads of the next batch. Nil if the next read needs more permits than are free; it
  /// then keeps its turn.
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

  /// Whether the oldest read has waited for its permits longer than a burst may. A read that could
  /// begin, and only waits for ``advance(_:)``, does not count.
  private func hasBurstWaitedTooLong(_ now: NIODeadline) -> Bool {
    guard let first = waiting.first, permits(for: first.customers) > free else { return false }
    return now - first.since > limits.burstPatience
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
