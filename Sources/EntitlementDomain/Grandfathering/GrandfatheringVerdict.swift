/// The result of a grandfathering rule for a customer, with the start of access.
package struct GrandfatheringVerdict: Hashable, Sendable {
  package var state: GrandfatheringState
  /// The moment at which the customer got the app (R38). If it is not known, the signing date of
  /// the app transaction that decided. Nil unless the outcome is `.granted`.
  package var since: Milliseconds?
  /// The authority of the app transaction that decided. Nil when none did, or when the values are
  /// simulated (R35).
  package var evidence: FactAuthority?

  package init(
    state: GrandfatheringState, since: Milliseconds?, evidence: FactAuthority? = nil
  ) {
    self.state = state
    self.since = since
    self.evidence = evidence
  }
}

extension GrandfatheringRule {
  /// Applies the rule to a customer (R33–R38).
  ///
  /// The rule is applied to each Apple account of the customer, and the best result counts. An
  /// unknown or flagged result ranks above a clear denial, so that no doubtful case is hidden
  /// (R37).
  ///
  /// - Parameter appTransactions: all app transactions of the customer in this app and environment,
  ///   in any order. Versions of one app transaction are merged (R5).
  package func verdict(
    on appTransactions: [AppTransactionFact], in environment: StoreEnvironment
  ) -> GrandfatheringVerdict {
    let facts = Self.standing(appTransactions)
    let acquisitions: [AppAcquisition]
    if environment == .production {
      acquisitions = facts.map { AppAcquisition($0) }
    } else if let simulated {
      acquisitions =
        facts.isEmpty
        ? [AppAcquisition(simulated: simulated, for: nil)]
        : facts.map { AppAcquisition(simulated: simulated, for: $0) }
    } else {
      return verdict(.notEvaluated, .environment, isFlagged: false)
    }
    let best = acquisitions.map { verdict(on: $0) }.min { Self.precedes($0.state, $1.state) }
    return best ?? verdict(.unknown, .noAppTransaction, isFlagged: true)
  }

  /// The standing version of each app transaction.
  private static func standing(_ facts: [AppTransactionFact]) -> [AppTransactionFact] {
    guard facts.count > 1 else { return facts }
    let versions = Dictionary(grouping: facts, by: \.identity).values
    return versions.compactMap { versions in
      versions.max { Fact.appTransaction($0).precedence < Fact.appTransaction($1).precedence }
    }
  }

  /// The order of results, the best first. A clear grant precedes a flagged one, and a flagged
  /// denial precedes a clear one. Ties are decided by the identity.
  private static func precedes(_ left: GrandfatheringState, _ right: GrandfatheringState) -> Bool {
    func rank(_ state: GrandfatheringState) -> Int {
      switch state.outcome {
      case .granted: state.isFlagged ? 1 : 0
      case .unknown: 2
      case .denied: state.isFlagged ? 3 : 4
      case .notEvaluated: 5
      }
    }
    let (leftRank, rightRank) = (rank(left), rank(right))
    if leftRank != rightRank { return leftRank < rightRank }
    guard let leftID = left.appTransactionID, let rightID = right.appTransactionID else {
      return left.appTransactionID != nil
    }
    return leftID < rightID
  }

  /// Applies the table of R37 to one app transaction.
  private func verdict(on acquisition: AppAcquisition) -> GrandfatheringVerdict {
    switch (version(of: acquisition), isDateBefore(acquisition.date)) {
    case (.isBefore(let byVersion), let byDate?) where byVersion == byDate:
      return verdict(
        byVersion ? .granted : .denied, .versionAndDateAgree, isFlagged: false, acquisition)
    case (.isBefore(let byVersion), let byDate?):
      let isGranted =
        switch conflictPolicy {
        case .grantAndFlag: true
        case .preferDate: byDate
        case .preferVersion: byVersion
        }
      return verdict(
        isGranted ? .granted : .denied, .versionAndDateDisagree, isFlagged: true, acquisition)
    case (.isBefore(let byVersion), nil):
      // A rule without a cutoff does not use the date; the catalog check warned about it (R40).
      return verdict(
        byVersion ? .granted : .denied, .versionAlone, isFlagged: cutoff != nil, acquisition)
    case (.missing, let byDate?):
      return verdict(byDate ? .granted : .denied, .dateAlone, isFlagged: false, acquisition)
    case (.unreadable, let byDate?):
      return verdict(
        byDate ? .granted : .denied, .dateAloneUnreadableVersion, isFlagged: true, acquisition)
    case (.missing, nil), (.unreadable, nil):
      return verdict(.unknown, .noEvidence, isFlagged: true, acquisition)
    }
  }

  /// The result of the version comparison.
  private enum VersionFinding {
    case isBefore(Bool)
    /// There is no version (R36), or the rule has no threshold for the platform.
    case missing
    case unreadable
  }

  /// Compares the version with the threshold of its platform. Without a platform, the version is
  /// compared with all thresholds. If the results agree, they hold for every platform; otherwise
  /// the version is unreadable.
  private func version(of acquisition: AppAcquisition) -> VersionFinding {
    guard let text = acquisition.version, !text.isEmpty else { return .missing }
    let applicable: [AppVersion]
    if let platform = acquisition.platform {
      applicable = AppPlatform(rawValue: platform).flatMap { thresholds[$0] }.map { [$0] } ?? []
    } else {
      applicable = Array(thresholds.values)
    }
    guard let first = applicable.first else { return .missing }
    guard let version = AppVersion(text) else { return .unreadable }
    let isBefore = isVersion(version, before: first)
    let isUnanimous = applicable.allSatisfy { isVersion(version, before: $0) == isBefore }
    return isUnanimous ? .isBefore(isBefore) : .unreadable
  }

  /// Whether a version is lower than a threshold (R34).
  private func isVersion(_ version: AppVersion, before threshold: AppVersion) -> Bool {
    comparesLeadingComponentOnly
      ? version.leadingComponent < threshold.leadingComponent : version < threshold
  }

  /// Whether a date is before the cutoff; nil when either is missing.
  private func isDateBefore(_ date: Milliseconds?) -> Bool? {
    guard let date, let cutoff else { return nil }
    return date < cutoff
  }

  private func verdict(
    _ outcome: GrandfatheringOutcome, _ reason: GrandfatheringReason, isFlagged: Bool,
    _ acquisition: AppAcquisition? = nil
  ) -> GrandfatheringVerdict {
    GrandfatheringVerdict(
      state: GrandfatheringState(
        ruleID: id, outcome: outcome, reason: reason, isFlagged: isFlagged,
        appTransactionID: acquisition?.identity),
      since: outcome == .granted ? acquisition.map { $0.date ?? $0.fallbackDate } : nil,
      evidence: acquisition?.authority)
  }
}

/// The known data of an Apple account's original purchase of the app, to which a rule is applied.
struct AppAcquisition {
  /// Nil for simulated values of a customer without an app transaction.
  let identity: AppTransactionID?
  /// The authority of the app transaction; nil for simulated values.
  let authority: FactAuthority?
  /// The raw `originalPlatform`. It is absent in legacy receipts, and in app transactions that were
  /// signed before the field existed.
  let platform: String?
  let version: String?
  /// The moment at which the customer got the app (R38).
  let date: Milliseconds?
  /// The start of access when ``date`` is missing.
  let fallbackDate: Milliseconds

  /// Apple's constant for the original purchase date in Sandbox and TestFlight:
  /// 2013-08-01T07:00:00Z (R35).
  static let sandboxPurchaseDate: Milliseconds = 1_375_340_400_000

  init(_ fact: AppTransactionFact) {
    identity = fact.identity
    authority = fact.authority
    platform = fact.originalPlatform
    version = fact.originalApplicationVersion
    date = [fact.originalPurchaseDate, fact.preorderDate].compactMap { $0 }.min()
    fallbackDate = fact.signedDate
  }

  /// Simulated values. Of the app transaction, only the platform and the identity are used.
  init(simulated: GrandfatheringRule.Simulated, for fact: AppTransactionFact?) {
    identity = fact?.identity
    authority = nil
    platform = fact?.originalPlatform
    version = simulated.originalVersion?.description
    date = simulated.originalPurchaseDate
    fallbackDate = Self.sandboxPurchaseDate
  }
}
