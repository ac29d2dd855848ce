extension GrandfatheringRule {
  /// Applies the rule to a customer (R33–R38).
  ///
  /// Every Apple account of the customer is judged by itself, and the best counts: whoever came
  /// first with one of them came first. A doubtful or missing answer outweighs a denial, so that
  /// nobody is denied in silence (R37).
  ///
  /// - Parameter appTransactions: all of the customer in this app and environment, in any order;
  ///   several versions of one are merged (R5).
  package func verdict(
    on appTransactions: [AppTransactionFact], in environment: StoreEnvironment
  ) -> GrandfatheringVerdict {
    let facts = Self.standing(appTransactions)
    let evidence: [GrandfatheringEvidence]
    if environment == .production {
      evidence = facts.map { GrandfatheringEvidence($0) }
    } else if let simulated {
      evidence =
        facts.isEmpty
        ? [GrandfatheringEvidence(simulated: simulated, for: nil)]
        : facts.map { GrandfatheringEvidence(simulated: simulated, for: $0) }
    } else {
      return verdict(.notEvaluated, .environment, isFlagged: false)
    }
    let best = evidence.map { verdict(on: $0) }.min { Self.precedes($0.state, $1.state) }
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

  /// The better one first. A clear grant is better than a doubtful one; a doubtful denial hides
  /// behind no clear one.
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

  /// R37's table.
  private func verdict(on evidence: GrandfatheringEvidence) -> GrandfatheringVerdict {
    switch (version(of: evidence), isDateBefore(evidence.date)) {
    case (.isBefore(let byVersion), let byDate?) where byVersion == byDate:
      return verdict(
        byVersion ? .granted : .denied, .versionAndDateAgree, isFlagged: false, evidence)
    case (.isBefore(let byVersion), let byDate?):
      let isGranted =
        switch conflictPolicy {
        case .grantAndFlag: true
        case .preferDate: byDate
        case .preferVersion: byVersion
        }
      return verdict(
        isGranted ? .granted : .denied, .versionAndDateDisagree, isFlagged: true, evidence)
    case (.isBefore(let byVersion), nil):
      // Where the rule has no cutoff, no date was asked for: the catalog check warned (R40).
      return verdict(
        byVersion ? .granted : .denied, .versionAlone, isFlagged: cutoff != nil, evidence)
    case (.missing, let byDate?):
      return verdict(byDate ? .granted : .denied, .dateAlone, isFlagged: false, evidence)
    case (.unreadable, let byDate?):
      return verdict(
        byDate ? .granted : .denied, .dateAloneUnreadableVersion, isFlagged: true, evidence)
    case (.missing, nil), (.unreadable, nil):
      return verdict(.unknown, .noEvidence, isFlagged: true, evidence)
    }
  }

  /// What the version says.
  private enum VersionFinding {
    case isBefore(Bool)
    /// There is none (R36), or the rule has no threshold for its platform.
    case missing
    case unreadable
  }

  /// Without a platform the version is held to every threshold of the rule. What they say in
  /// unison holds wherever the app was got; so a rule with one threshold is applied as it is. Where
  /// they differ, the version cannot be read without its platform.
  private func version(of evidence: GrandfatheringEvidence) -> VersionFinding {
    guard let text = evidence.version, !text.isEmpty else { return .missing }
    let applicable: [AppVersion]
    if let platform = evidence.platform {
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

  /// R34.
  private func isVersion(_ version: AppVersion, before threshold: AppVersion) -> Bool {
    comparesLeadingComponentOnly
      ? version.leadingComponent < threshold.leadingComponent : version < threshold
  }

  /// Nil when there is no date, or nothing to hold it to.
  private func isDateBefore(_ date: Milliseconds?) -> Bool? {
    guard let date, let cutoff else { return nil }
    return date < cutoff
  }

  private func verdict(
    _ outcome: GrandfatheringOutcome, _ reason: GrandfatheringReason, isFlagged: Bool,
    _ evidence: GrandfatheringEvidence? = nil
  ) -> GrandfatheringVerdict {
    GrandfatheringVerdict(
      state: GrandfatheringState(
        ruleID: id, outcome: outcome, reason: reason, isFlagged: isFlagged,
        appTransactionID: evidence?.identity),
      since: outcome == .granted ? evidence.map { $0.date ?? $0.fallbackDate } : nil,
      evidence: evidence?.authority)
  }
}
