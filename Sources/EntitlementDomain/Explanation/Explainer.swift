extension Evaluation {
  /// Explains the state of a customer (R31).
  ///
  /// The state is exactly that of ``state(of:catalog:at:)``. The sentences are derived from the
  /// same verdicts; no rule is evaluated twice.
  package static func explain(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> Explanation {
    var check = CancellationCheck.never
    do {
      return try explain(record, catalog: catalog, at: now, check: &check)
    } catch {
      preconditionFailure("an explanation without a check was cancelled")
    }
  }

  /// The same for a customer with many purchases, which the caller can cancel.
  ///
  /// - Parameter isCancelled: as of ``evaluate(_:catalog:at:isCancelled:)``.
  /// - Returns: nil if `isCancelled` returned true.
  package static func explain(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    isCancelled: @escaping () -> Bool
  ) -> Explanation? {
    var check = CancellationCheck(isCancelled)
    return try? explain(record, catalog: catalog, at: now, check: &check)
  }

  private static func explain(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Explanation {
    let history = try History(record, catalog: catalog, check: &check)
    let state = try evaluate(history, of: record, at: now, check: &check).state
    return try Explainer(
      history: history, record: record, catalog: catalog, state: state, check: &check
    ).explanation(check: &check)
  }
}

/// Builds an explanation from a history, at a moment and at the later moments of change.
struct Explainer {
  private let state: CustomerState
  private let present: Situation
  private let forecast: Forecast
  private let entitlements: [EntitlementID]
  private let newFacts: NewFacts
  /// The number of items to list for each entitlement and group.
  private let consideredLimit: Int
  /// What is left out of ``state`` and of the entitlements.
  private var omitted = ExplanationOmissions()

  /// - Parameters:
  ///   - history: the history of the record under the catalog.
  ///   - state: the state to explain.
  init(
    history: History, record: CustomerRecord, catalog: Catalog, state: CustomerState,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) {
    present = Situation(history: history, state: state)
    self.state = state.truncated(to: ExplanationBounds.listed, omitting: &omitted)
    entitlements = ExplanationBounds.listed(
      Set(catalog.entitlements.keys)
        .union(state.entitlements.lazy.map(\.entitlementID)).sorted(), omitting: &omitted
    ) { [present] in present.sources(of: $0).isEmpty }
    let count = entitlements.count + self.state.groups.count
    consideredLimit = ExplanationBounds.considered(ofEach: count)
    forecast = try Forecast(
      from: present, of: record,
      limit: ExplanationBounds.examinedMoments(for: count, parts: history.partCount),
      check: &check)
    newFacts = NewFacts(catalog: catalog)
  }

  func explanation(check: inout CancellationCheck) throws(EvaluationCancelled) -> Explanation {
    var explanation = Explanation(state: state, entitlements: [], groups: [])
    for id in entitlements {
      try check.ask()
      explanation.entitlements.append(
        EntitlementExplanation(
          entitlementID: id, isConferred: !present.sources(of: id).isEmpty,
          reasoning: reasoning(on: id)))
    }
    for group in state.groups {
      try check.ask()
      explanation.groups.append(
        GroupExplanation(
          groupID: group.groupID, status: group.standing.status, reasoning: reasoning(on: group)))
    }
    explanation.omitted = omitted.isEmpty ? nil : omitted
    return explanation
  }

  private func reasoning(on entitlement: EntitlementID) -> Reasoning {
    let finding = present.finding(on: entitlement)
    return reasoning(
      decision: present.decision(on: entitlement, by: finding), for: entitlement,
      parts: present.consideredParts(on: entitlement, by: finding),
      grounds: finding.map { present.grounds(of: $0) } ?? [],
      known: forecast.changes(of: entitlement),
      possible: newFacts.changes(of: entitlement, by: finding, in: present))
  }

  private func reasoning(on group: GroupState) -> Reasoning {
    let id = group.groupID
    guard let position = present.decidingChain(of: group) else {
      // Not reached: the standing of a group is that of one of its chains.
      return Reasoning(
        decision: Decision(28, "No chain of this group is known."), considered: [], changes: [])
    }
    let finding = present.finding(onChain: position)
    var reasoning = reasoning(
      decision: present.decision(onChain: position, for: nil), for: nil,
      parts: present.chains(in: id).flatMap { present.consideredParts(ofChain: $0) },
      grounds: present.grounds(of: finding), known: forecast.changes(of: id),
      possible: newFacts.changes(of: id, by: finding, in: present))
    reasoning.decision = present.decision(on: id, by: position)
    return reasoning
  }

  /// - Parameter decision: that of the first ground.
  private func reasoning(
    decision: Decision, for entitlement: EntitlementID?, parts: [ConsideredPart],
    grounds: [ConsideredPart.Part], known: Forecast.Changes, possible: [ExpectedChange]
  ) -> Reasoning {
    let considered = present.bounded(
      parts, grounds: grounds, decision: decision, for: entitlement, to: consideredLimit)
    return Reasoning(
      decision: decision, considered: considered, changes: known.listed + possible,
      consideredOmitted: parts.count - considered.count,
      changesCompleteUntil: known.completeUntil)
  }
}

/// The limits of an explanation. People read it, and it is sent in one frame.
enum ExplanationBounds {
  /// Items considered for one entitlement or group: as many as a person may read.
  static let considered = 50
  /// Elements of each list of the explanation and of its state: entitlements, groups and products
  /// (R31). More than a person reads; with all sentences about 2 kB for each.
  static let listed = 500
  /// Items considered, and sources, in total for each listed element, so that the explanation fits a
  /// frame also with many entitlements. An item has about 300 bytes, and less than 1 kB with the
  /// longest identifiers.
  static let itemsForEachListed = 8
  /// Known moments of change to list for one entitlement or group.
  static let knownChanges = 5
  /// Later moments at which the state is computed to find the changes. Each costs one evaluation,
  /// and a question about the distant past has some for every later period.
  static let examinedMoments = 64
  /// The largest product of examined moments and of entitlements and groups, because the cost of an
  /// explanation grows with both.
  static let examinedInAll = 4_096
  /// The largest product of examined moments and of facts and grants: about 60 ms. At least one
  /// moment is examined, the next transition.
  static let examinedParts = 30_000
  /// Possible effects of new facts to list for one entitlement or group.
  static let newFacts = 3
  /// Products that a sentence names.
  static let namedProducts = 3
  /// Bytes of a sentence.
  static let sentence = 400
  /// Bytes of an identifier in a sentence; the longest sentence has four. The item has the whole
  /// identifier.
  static let identifier = 48
  /// Bytes kept of the end of a longer identifier, where similar identifiers differ.
  static let identifierEnd = 16

  /// The number of later moments to examine.
  ///
  /// - Parameters:
  ///   - count: the number of entitlements and groups.
  ///   - parts: the number of periods, other purchases and grants.
  static func examinedMoments(for count: Int, parts: Int) -> Int {
    let limit = min(examinedInAll / max(1, count), examinedParts / max(1, parts))
    return max(1, min(examinedMoments, limit))
  }

  /// The number of items, or of sources, to list for each entitlement and group.
  ///
  /// - Parameters:
  ///   - count: the number of entitlements and groups.
  ///   - listed: the limit of these.
  static func considered(ofEach count: Int, listed: Int = listed) -> Int {
    max(1, min(considered, sources(ofEach: count, listed: listed)))
  }

  static func sources(ofEach count: Int, listed: Int) -> Int {
    max(1, itemsForEachListed * listed / max(1, count))
  }

  /// The entitlements to explain. If they are too many, the conferred ones come first.
  ///
  /// - Parameter lacksSource: whether nothing confers an entitlement.
  fileprivate static func listed(
    _ entitlements: [EntitlementID], omitting omitted: inout ExplanationOmissions,
    lacksSource: (EntitlementID) -> Bool
  ) -> [EntitlementID] {
    guard entitlements.count > listed else { return entitlements }
    omitted.entitlements += entitlements.count - listed
    let conferred = entitlements.filter { !lacksSource($0) }
    return Array((conferred + entitlements.filter(lacksSource)).prefix(listed))
  }
}
