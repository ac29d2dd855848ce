/// The changes by time alone (R30): the later moments at which the state differs.
struct Forecast {
  /// A moment of change, with the situation before it and from it on.
  private struct Step {
    let before: Situation
    let after: Situation
  }

  /// Sorted by moment.
  private let steps: [Step]

  /// - Parameter limit: the number of later moments to examine.
  init(
    from present: Situation, of record: CustomerRecord, limit: Int, check: inout CancellationCheck
  ) throws(EvaluationCancelled) {
    let history = present.history
    var steps: [Step] = []
    var before = present
    for moment in history.boundaries(around: present.now).laterMoments.prefix(limit) {
      let state = try history.state(of: record, at: moment, check: &check)
      if state.entitlements == before.state.entitlements, state.groups == before.state.groups {
        continue
      }
      let after = before.at(state)
      steps.append(Step(before: before, after: after))
      before = after
    }
    self.steps = steps
  }

  func changes(of entitlement: EntitlementID) -> [ExpectedChange] {
    changes { Self.change(of: entitlement, in: $0) }
  }

  func changes(of group: SubscriptionGroupID) -> [ExpectedChange] {
    changes { Self.change(of: group, in: $0) }
  }

  private func changes(_ change: (Step) -> Decision?) -> [ExpectedChange] {
    var changes: [ExpectedChange] = []
    for step in steps where changes.count < ExplanationBounds.knownChanges {
      if let decision = change(step) {
        changes.append(ExpectedChange(at: step.after.now, decision: decision))
      }
    }
    return changes
  }

  // MARK: One change

  private static func change(of entitlement: EntitlementID, in step: Step) -> Decision? {
    let before = step.before.sources(of: entitlement)
    let after = step.after.sources(of: entitlement)
    if before == after { return nil }
    let finding = step.after.finding(on: entitlement)
    let decision = step.after.decision(on: entitlement, by: finding)
    if after.isEmpty {
      return Decision(
        decision.rule, "It ends, unless newer facts say otherwise: " + decision.sentence)
    }
    if before.isEmpty { return Decision(decision.rule, "It begins: " + decision.sentence) }
    return change(of: entitlement, from: before, to: after, in: step)
  }

  /// The change of an entitlement that stays conferred, with other sources.
  private static func change(
    of entitlement: EntitlementID, from before: [EntitlementSource], to after: [EntitlementSource],
    in step: Step
  ) -> Decision {
    let (originsBefore, origins) = (Set(before.map(\.origin)), Set(after.map(\.origin)))
    let ended = before.first { !origins.contains($0.origin) }
    let begun = after.first { !originsBefore.contains($0.origin) }
    if let begun {
      let decision = step.after.decision(on: entitlement, by: begun.origin)
      if let ended, ended.isOfSameChain(as: begun) {
        return Decision(18, "It goes on without a gap: " + decision.sentence)
      }
      return Decision(decision.rule, "It is conferred by something new: " + decision.sentence)
    }
    if let ended {
      let decision = step.after.decision(on: entitlement, by: ended.origin)
      return Decision(decision.rule, "It stays, with fewer sources: " + decision.sentence)
    }
    let known = Set(before)
    let other = after.first { !known.contains($0) } ?? after[0]
    let decision = step.after.decision(on: entitlement, by: other.origin)
    return Decision(decision.rule, "It stays, with another end: " + decision.sentence)
  }

  private static func change(of group: SubscriptionGroupID, in step: Step) -> Decision? {
    let before = step.before.group(group)
    let after = step.after.group(group)
    if before == after { return nil }
    guard let after, let position = step.after.decidingChain(of: after) else {
      return Decision(28, "Its chains then stand in another group.")
    }
    // The chain's own sentence. The group's sentence, with the other chains, would be too long.
    let rule = step.after.decision(on: group, by: position).rule
    let sentence = step.after.decision(onChain: position, for: nil).sentence
    let status = after.standing.status
    return before?.standing.status == status
      ? Decision(rule, "It stays \(status.word), told otherwise: " + sentence)
      : Decision(rule, "It is \(status.word), unless newer facts say otherwise: " + sentence)
  }
}

extension Situation {
  /// The decision on one source, also if it no longer confers.
  fileprivate func decision(
    on entitlement: EntitlementID, by origin: EntitlementSource.Origin
  ) -> Decision {
    // Only the deciding period of a chain has a finding.
    let own = findings(on: entitlement).first { self.origin(of: $0.subject) == origin }
    return decision(on: entitlement, by: own ?? finding(on: entitlement))
  }
}

extension EntitlementSource {
  fileprivate func isOfSameChain(as other: EntitlementSource) -> Bool {
    guard case .purchase(_, let chain, _) = origin,
      case .purchase(_, let otherChain, _) = other.origin
    else { return false }
    return chain == otherChain
  }
}
