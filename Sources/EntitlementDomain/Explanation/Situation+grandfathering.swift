// The sentences about grandfathering (R33–R39).

extension Situation {
  /// The decision on a grandfathering rule.
  ///
  /// - Parameter position: the position of the rule in the history.
  func decision(onRule position: Int) -> Decision {
    let (rule, verdict) = history.grandfathering[position]
    let state = verdict.state
    let name = "Grandfathering rule \(rule.id.name)"
    switch state.outcome {
    case .notEvaluated:
      return Decision(
        35,
        "\(name) is not evaluated in \(history.scope.environment.rawValue), and the catalog sets "
          + "no simulated values.")
    case .unknown:
      let reason =
        state.reason == .noAppTransaction
        ? "no app transaction of this customer is known"
        : "the app transaction has no version or date to judge by"
      return Decision(37, "\(name) cannot tell: \(reason).")
    case .granted, .denied:
      let isLater = state.outcome == .granted && !verdict.confers(at: now)
      let outcome =
        isLater
        ? "confers only from \((verdict.since ?? now).rfc3339), when the app was got"
        : state.outcome == .granted ? "confers" : "does not confer"
      let source =
        isSimulated ? " by the catalog's simulated values" : appTransaction(of: state)
      return Decision(
        decidingRule(state, of: rule),
        "\(name) \(outcome)\(source): \(Self.reason(of: state, by: rule))."
      ).withAuthority(verdict.evidence)
    }
  }

  /// Whether the operator's simulated values are evaluated: outside Production (R35).
  private var isSimulated: Bool { history.scope.environment != .production }

  private func appTransaction(of state: GrandfatheringState) -> String {
    state.appTransactionID.map { " by app transaction \($0.name)" } ?? ""
  }

  /// The rule that decided: R37, or for a missing version R36 if the receipt has none, and R33 if
  /// the platform has no threshold.
  private func decidingRule(_ state: GrandfatheringState, of rule: GrandfatheringRule) -> Rule {
    guard state.reason == .dateAlone else { return 37 }
    let fact = appTransactions.first { $0.identity == state.appTransactionID }
    let version =
      isSimulated
      ? rule.simulated?.originalVersion?.description : fact?.originalApplicationVersion
    return version.map { $0.isEmpty } ?? true ? 36 : 33
  }

  private static func reason(
    of state: GrandfatheringState, by rule: GrandfatheringRule
  ) -> String {
    let isBefore = state.outcome == .granted
    let side = isBefore ? "before" : "not before"
    switch state.reason {
    case .versionAndDateAgree:
      return "version and date are \(side) the change"
    case .versionAndDateDisagree:
      return "version and date disagree, and \(rule.conflictPolicy.rawValue) decides"
    case .dateAlone:
      return "no version can be compared, and the date is \(side) the cutoff"
    case .dateAloneUnreadableVersion:
      return "the version cannot be read, and the date is \(side) the cutoff"
    case .versionAlone:
      return rule.cutoff == nil
        ? "the version is \(side) the threshold, and the rule has no cutoff date"
        : "the date is missing, and the version is \(side) the threshold"
    case .noAppTransaction, .environment, .noEvidence:
      return "there is nothing to judge by"
    }
  }

  /// The standing app transactions, sorted by identity.
  var appTransactions: [AppTransactionFact] {
    history.appTransactions.map { table.appTransaction($0) }.sorted { $0.identity < $1.identity }
  }

  /// The statement about an app transaction alone (R33, R36, R38).
  func statement(on fact: AppTransactionFact) -> Decision {
    if isSimulated {
      return Decision(
        35,
        "In \(history.scope.environment.rawValue) its version and date are constants, and the "
          + "catalog's simulated values count.")
    }
    let acquisition = AppAcquisition(fact)
    let date = acquisition.date.map { "at \($0.rfc3339)" } ?? "at an unknown time"
    let platform = acquisition.platform.map { " on \($0.nameInSentence)" } ?? ""
    guard let version = acquisition.version, !version.isEmpty else {
      return Decision(36, "The app was got \(date)\(platform); the version is not told.")
    }
    let isPreorder = fact.preorderDate != nil && fact.preorderDate == acquisition.date
    return isPreorder
      ? Decision(
        38, "The app was ordered ahead \(date)\(platform), and got in \(version.nameInSentence).")
      : Decision(33, "The app was got \(date)\(platform), in \(version.nameInSentence).")
  }
}
