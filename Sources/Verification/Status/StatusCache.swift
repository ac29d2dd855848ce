import Cryptography
import EntitlementDomain

/// An LRU cache of certificate status. Entries expire.
struct StatusCache {
  private struct Entry {
    var outcome: StatusOutcome
    /// The period in which the entry is valid. It also ends if the clock is set back.
    var time: ClosedRange<Int64>
    /// `thisUpdate` of the response; nil if there was no response.
    var thisUpdate: Int64?
    /// A larger number is a later use.
    var lastUse: UInt64
  }

  private let capacity: Int
  private var entries: [StatusQuery.Key: Entry] = [:]
  private var uses: UInt64 = 0

  /// - Parameter capacity: maximum number of certificates.
  init(capacity: Int) {
    self.capacity = max(capacity, 1)
  }

  var count: Int { entries.count }

  /// The valid entry at `now`; nil if a request is needed.
  mutating func outcome(of key: StatusQuery.Key, now: Milliseconds) -> StatusOutcome? {
    guard let entry = entries[key], entry.time.contains(now.rawValue) else { return nil }
    uses += 1
    entries[key]?.lastUse = uses
    return entry.outcome
  }

  /// A cached revocation, even if it has expired.
  func revocation(of key: StatusQuery.Key) -> StatusOutcome? {
    guard let outcome = entries[key]?.outcome, case .revoked = outcome else { return nil }
    return outcome
  }

  /// Caches a response until it expires, at most for ``StatusLimits/maximumCacheTime``. The status
  /// unknown is cached like a failed request.
  ///
  /// A good status replaces a revocation only if its `thisUpdate` is later: an attacker may replay
  /// an old response, and times have a resolution of one second.
  ///
  /// - Returns: the outcome that applies from now on.
  mutating func record(
    _ certificateStatus: OCSPCertificateStatus, of key: StatusQuery.Key, now: Milliseconds
  ) -> StatusOutcome {
    let outcome: StatusOutcome
    switch certificateStatus.status {
    case .unknown:
      return recordNoAnswer(
        .undecided(why: "the OCSP responder does not know it"), of: key, for: StatusLimits.backoff,
        now: now)
    case .good:
      if let known = entries[key], case .revoked = known.outcome,
        certificateStatus.thisUpdate <= known.thisUpdate ?? .min
      {
        return recordNoAnswer(known.outcome, of: key, for: StatusLimits.backoff, now: now)
      }
      outcome = .good
    case .revoked(_, let reason):
      outcome = .revoked(reason: reason)
    }
    // The responder's clock may be ahead.
    let begin = min(certificateStatus.thisUpdate, now.rawValue)
    let end = min(
      certificateStatus.validUntil, now.rawValue.addingClamped(StatusLimits.maximumCacheTime))
    set(
      Entry(
        outcome: outcome, time: begin...max(begin, end), thisUpdate: certificateStatus.thisUpdate,
        lastUse: 0),
      for: key)
    return outcome
  }

  /// Caches a failed request. A cached revocation stays until the issuer withdraws it: blocking the
  /// responder must not undo a revocation.
  ///
  /// - Returns: the outcome that applies from now on.
  mutating func recordNoAnswer(
    _ outcome: StatusOutcome, of key: StatusQuery.Key, for time: Milliseconds, now: Milliseconds
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

  private mutating func set(_ entry: Entry, for key: StatusQuery.Key) {
    uses += 1
    var entry = entry
    entry.lastUse = uses
    entries[key] = entry
    // Entries are added one at a time, each after a network request, so a linear search is cheap
    // enough.
    if entries.count > capacity,
      let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      entries[oldest.key] = nil
    }
  }
}

extension Int64 {
  /// The sum, clamped to the maximum. `time` must not be negative.
  fileprivate func addingClamped(_ time: Milliseconds) -> Int64 {
    let (sum, isTooLarge) = addingReportingOverflow(time.rawValue)
    return isTooLarge ? .max : sum
  }
}
