/// A version of a fact: what the App Store said of it, at one moment or at several (R53).
package struct FactVersion: Hashable, Sendable {
  /// What it says. Its signing date is one of ``moments``. Its digest is that of the statement, not
  /// of one of the payloads, so that it is the same whichever payload is kept.
  package var fact: Fact
  package var moments: SigningMoments
  /// Whether it is the version that stands.
  package var stands: Bool

  package init(fact: Fact, moments: SigningMoments, stands: Bool = false) {
    self.fact = fact
    self.moments = moments
    self.stands = stands
  }

  /// The fact as it was signed last at or before a moment; nil when it was signed later only.
  fileprivate func signed(by moment: Milliseconds) -> Fact? {
    moments.last(notAfter: moment).map { fact.signed(at: $0) }
  }
}

extension CustomerRecord {
  /// The record as it was signed by a moment (R54): of each transaction and renewal info, the version
  /// that was signed last at or before it. A transaction that was signed later only has its first
  /// version once it was bought, unless Apple had signed that its charge failed. App transactions are
  /// those of today.
  package func signed(by moment: Milliseconds) -> CustomerRecord {
    var record = self
    record.versions = []
    record.facts = []
    let known = Dictionary(grouping: versions) { $0.fact.key }
    var signedLater: [TransactionFact] = []
    var failedRenewals: [OriginalTransactionID: RenewalInfoFact] = [:]
    for fact in facts {
      if case .appTransaction = fact {
        record.facts.append(fact)
        continue
      }
      let only = FactVersion(fact: fact, moments: SigningMoments(fact.precedence.signedDate))
      let candidates = known[fact.key] ?? [only]
      if let last = fact.lastStatement(by: moment, among: candidates) {
        record.facts.append(last)
        if case .renewalInfo(let info) = last, info.tellsOfFailedRenewal {
          failedRenewals[info.originalTransactionID] = info
        }
        continue
      }
      let first = candidates.map { $0.fact.signed(at: $0.moments.first) }
        .min { $0.isStatedBefore($1) }
      if case .transaction(let transaction) = first { signedLater.append(transaction) }
    }
    record.facts += signedLater.filter { transaction in
      // What was bought later is no part of the past.
      guard transaction.purchaseDate <= moment else { return false }
      // A renewal that is paid for within grace begins at the end of the period before it, and so
      // before its charge.
      guard let info = failedRenewals[transaction.originalTransactionID] else { return true }
      return !info.tellsOfFailure(of: transaction)
    }.map { .transaction($0) }
    return record
  }
}

extension RenewalInfoFact {
  /// Whether a charge had failed. A grace date that is not after the renewal is a stale one (R65).
  fileprivate var tellsOfFailedRenewal: Bool {
    if let gracePeriodExpiresDate {
      return renewalDate.map { gracePeriodExpiresDate > $0 } ?? true
    }
    return isInBillingRetryPeriod == true
  }

  /// Whether a transaction is the renewal that had failed: it begins at the renewal date or later, and
  /// not after the renewal info was signed. Without that date: it had begun, and was not over.
  fileprivate func tellsOfFailure(of transaction: TransactionFact) -> Bool {
    if let renewalDate {
      return transaction.purchaseDate >= renewalDate
        && transaction.purchaseDate <= max(signedDate, renewalDate)
    }
    return transaction.purchaseDate <= signedDate
      && transaction.expiresDate.map { $0 > signedDate } ?? false
  }
}

extension Fact {
  /// What stands among the versions that were signed by a moment, completed by them (R92); nil when all
  /// were signed later. This is the standing version, which goes before all others once it is signed.
  fileprivate func lastStatement(by moment: Milliseconds, among versions: [FactVersion]) -> Fact? {
    let signed = versions.compactMap { $0.signed(by: moment) }
    guard precedence.signedDate <= moment else {
      return signed.max { $0.precedence < $1.precedence }?.completed(by: signed)
    }
    // Without what was signed after the moment.
    guard var standing = versions.first(where: \.stands)?.fact else { return self }
    standing.digest = digest
    return standing.completed(by: signed)
  }

  /// The same statement, signed at another moment.
  fileprivate func signed(at moment: Milliseconds) -> Fact {
    switch self {
    case .transaction(var fact):
      fact.signedDate = moment
      return .transaction(fact)
    case .renewalInfo(var fact):
      fact.signedDate = moment
      return .renewalInfo(fact)
    case .appTransaction(var fact):
      fact.signedDate = moment
      return .appTransaction(fact)
    }
  }

  /// The order of the versions of a fact of which none was signed by then: the greater authority
  /// first (R51), then the earlier one.
  fileprivate func isStatedBefore(_ other: Fact) -> Bool {
    authority == other.authority ? precedence < other.precedence : authority > other.authority
  }
}
