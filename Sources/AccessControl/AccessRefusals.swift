import Synchronization

/// Why a call was refused before its request was decoded, or by its scope or its caller's limits. The
/// raw values are the reasons of `ErrorInfo`.
package enum AccessRefusal: String, CaseIterable, Hashable, Sendable {
  /// The call has no credential.
  case missing = "CREDENTIAL_MISSING"
  /// A token that is unknown, wrong or has expired: which one is told to nobody.
  case refused = "CREDENTIAL_REFUSED"
  case permission = "PERMISSION_MISSING"
  case scope = "APP_NOT_PERMITTED"
  case rate = "RATE_LIMITED"
  case inFlight = "TOO_MANY_CALLS"
  case connections = "TOO_MANY_CONNECTIONS"
}

/// Counts refused calls by caller and reason. Their number is bounded: only callers of the file have
/// names.
package final class AccessRefusals: Sendable {
  package struct Key: Hashable, Sendable {
    /// Nil: not known.
    package let caller: String?
    package let reason: AccessRefusal

    package init(_ caller: String?, _ reason: AccessRefusal) {
      self.caller = caller
      self.reason = reason
    }
  }

  private struct Count {
    var total = 0
    /// Refusals since the last line of the log, and when it was written.
    var unlogged = 0
    var logged: ContinuousClock.Instant?
  }

  /// The least time between two lines about one caller and reason.
  private static let logInterval = Duration.seconds(10)

  private let counts = Mutex<[Key: Count]>([:])

  package init() {}

  /// Counts a refusal.
  ///
  /// - Returns: the number of refusals to log now; nil: none.
  package func count(_ key: Key, now: ContinuousClock.Instant = .now) -> Int? {
    counts.withLock { counts in
      var count = counts[key, default: Count()]
      count.total += 1
      count.unlogged += 1
      defer { counts[key] = count }
      if let logged = count.logged, now - logged < Self.logInterval { return nil }
      count.logged = now
      return exchange(&count.unlogged, with: 0)
    }
  }

  package var totals: [Key: Int] { counts.withLock { $0.mapValues(\.total) } }
}
