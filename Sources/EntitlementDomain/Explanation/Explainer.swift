/// Makes an explanation out of a history, as it stands at a moment and at those after it.
struct Explainer {
  private let state: CustomerState
  private let present: Situation
  private let forecast: Forecast
  private let entitlements: [EntitlementID]
  private let newFacts: NewFacts
  /// Items to list for each entitlement and group.
  private let consideredLimit: Int

  /// - Parameters:
  ///   - history: that of the record under the catalog.
  ///   - state: what is to be explained.
  init(history: History, record: CustomerRecord, catalog: Catalog, state: CustomerState) {
    self.state = state
    present = Situation(history: history, state: state)
    entitlements = Set(catalog.entitlements.keys)
      .union(state.entitlements.lazy.map(\.entitlementID)).sorted()
    let count = entitlements.count + state.groups.count
    consideredLimit = ExplanationBounds.considered(ofEach: count)
    forecast = Forecast(
      from: present, of: record, limit: ExplanationBounds.examinedMoments(for: count))
    newFacts = NewFacts(catalog: catalog)
  }

  func explanation() -> Explanation {
    Explanation(
      state: state,
      entitlements: entitlements.map { id in
        EntitlementExplanation(
          entitlementID: id, isConferred: !present.sources(of: id).isEmpty,
          reasoning: reasoning(on: id))
      },
      groups: state.groups.map { group in
        GroupExplanation(
          groupID: group.groupID, status: group.standing.status, reasoning: reasoning(on: group))
      })
  }

  private func reasoning(on entitlement: EntitlementID) -> Reasoning {
    let finding = present.finding(on: entitlement)
    let decision = present.decision(on: entitlement, by: finding)
    return Reasoning(
      decision: decision,
      considered: Situation.bounded(
        present.considerations(on: entitlement, by: finding),
        grounds: finding.map { present.grounds(of: $0) } ?? [], decision: decision,
        to: consideredLimit),
      changes: forecast.changes(of: entitlement)
        + newFacts.changes(of: entitlement, by: finding, in: present))
  }

  private func reasoning(on group: GroupState) -> Reasoning {
    let id = group.groupID
    guard let position = present.decidingChain(of: group) else {
      // A group is told by one of the chains, so there is one.
      return Reasoning(
        decision: Decision(28, "No chain of this group is known."), considered: [], changes: [])
    }
    let finding = present.finding(onChain: position)
    return Reasoning(
      decision: present.decision(on: id, by: position),
      considered: Situation.bounded(
        present.chains(in: id).flatMap { present.considerations(ofChain: $0, for: nil) },
        grounds: present.grounds(of: finding),
        decision: present.decision(onChain: position, for: nil), to: consideredLimit),
      changes: forecast.changes(of: id) + newFacts.changes(of: id, by: finding, in: present))
  }
}
