import Cryptography
import EntitlementDomain

/// What is known of certificates, each for a time, within a number of certificates.
struct StatusMemory {
  private struct Entry {
    var outcome: StatusOutcome
    /// The span of time for which it counts. A clock that was set back ends it too.
    var time: ClosedRange<Int64>
    /// When the issuer knew it; nil when it is not the issuer's word.
    var thisUpdate: Int64?
    /// The larger, the later.
    var lastUse: UInt64
  }

  private let capacity: Int
  private var entries: [StatusQuestion.Key: Entry] = [:]
  private var uses: UInt64 = 0

  /// - Parameter capacity: certificates at most; the least recently used makes room.
  init(capacity: Int) {
    self.capacity = max(capacity, 1)
  }

  var count: Int { entries.count }

  /// What counts at `now`; nil when the issuer is to be asked.
  mutating func outcome(of key: StatusQuestion.Key, now: Milliseconds) -> StatusOutcome? {
    guard let entry = entries[key], entry.time.contains(now.rawValue) else { return nil }
    uses += 1
    entries[key]?.lastUse = uses
    return entry.outcome
  }

  /// A revocation that was not taken back yet, also when its time is over.
  func revocation(of key: StatusQuestion.Key) -> StatusOutcome? {
    guard let outcome = entries[key]?.outcome, case .revoked = outcome else { return nil }
    return outcome
  }

  /// Keeps the issuer's word until its time is over, but no longer than
  /// ``StatusLimits/longestMemory``. That it does not know the certificate is kept like no answer.
  ///
  /// A good word lifts a revocation only when it is of a later moment: somebody may send an old
  /// answer again, and moments are whole seconds.
  ///
  /// - Returns: what counts from now on.
  mutating func record(
    _ standing: CertificateStanding, of key: StatusQuestion.Key, now: Milliseconds
  ) -> StatusOutcome {
    let outcome: StatusOutcome
    switch standing.status {
    case .unknown:
      return recordNoAnswer(
        .undecided(why: "its responder does not know it"), of: key, for: StatusLimits.backOff,
        now: now)
    case .good:
      if let known = entries[key], case .revoked = known.outcome,
        standing.thisUpdate <= known.thisUpdate ?? .min
      {
        return recordNoAnswer(known.outcome, of: key, for: StatusLimits.backOff, now: now)
      }
      outcome = .good
    case .revoked(_, let reason):
      outcome = .revoked(reason: reason)
    }
    // The responder's clock may be ahead of ours.
    let begin = min(standing.thisUpdate, now.rawValue)
    let end = min(standing.usableUntil, now.rawValue.addingClamped(StatusLimits.longestMemory))
    set(
      Entry(
        outcome: outcome, time: begin...max(begin, end), thisUpdate: standing.thisUpdate,
        lastUse: 0),
      for: key)
    return outcome
  }

  /// Keeps that there is no usable answer. A revocation stands until the issuer takes it back: whoever
  /// can keep its answers from us must not undo it.
  ///
  /// - Returns: what counts from now on.
  mutating func recordNoAnswer(
    _ outcome: StatusOutcome, of key: StatusQuestion.Key, for time: Milliseconds, now: Milliseconds
  ) -> StatusOutcome {
    let end = now.rawValue.addingClamped(time)
    if var entry = entries[key], case .revoked = entry.outcome {
      entry.time = now.rawValue...max(now.rawValue, end)
      set(entry, for: key)
      return entry.outcome
    }
    set(
      Entry(
        outcome: outcome, time: now.rawValue...max(now.rawValue, end), thisUpdate: nil, lastUse: 0),
      for: key)
    return outcome
  }

  private mutating func set(_ entry: Entry, for key: StatusQuestion.Key) {
    uses += 1
    var entry = entry
    entry.lastUse = uses
    entries[key] = entry
    // One at a time comes in, after a question over the network: to look at all is cheap beside it.
    if entries.count > capacity,
      let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      entries[oldest.key] = nil
    }
  }
}

extension Int64 {
  /// The sum, or the last moment when it would be later. The time is not negative.
  fileprivate func addingClamped(_ time: Milliseconds) -> Int64 {
    let (sum, isTooLarge) = addingReportingOverflow(time.rawValue)
    return isTooLarge ? .max : sum
  }
}
