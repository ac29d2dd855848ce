/// The changes by time alone (R30): the later moments at which the state differs.
struct Forecast {
  /// A moment of change, with the situation before it and from it on.
  private struct Step {
    let before: Situation
    let after: Situation
  }

  /// The known changes of one entitlement or group.
  struct Changes {
    let listed: [ExpectedChange]
    /// Later changes may be missing; nil when none is (R31).
    let completeUntil: Milliseconds?
  }

  /// Sorted by moment.
  private let steps: [Step]
  /// The last moment that was examined; nil when all were.
  private let examinedUntil: Milliseconds?

  /// - Parameter limit: the number of later moments to examine.
  init(
    from present: Situation, of record: CustomerRecord, limit: Int, check: inout CancellationCheck
  ) throws(EvaluationCancelled) {
    let history = present.history
    var steps: [Step] = []
    var before = present
    // Before the next transition nothing changes.
    let moments =
      present.state.nextTransitionAt.map {
        history.boundaries(around: $0.advanced(by: -1)).laterMoments
      } ?? []
    for moment in moments.prefix(limit) {
      let state = try history.state(of: record, at: moment, check: &check)
      if state.entitlements == before.state.entitlements, state.groups == before.state.groups {
        continue
      }
      let after = before.at(state)
      steps.append(Step(before: before, after: after))
      before = after
    }
    self.steps = steps
    examinedUntil = moments.count > limit ? moments[limit - 1] : nil
  }

  func changes(of entitlement: EntitlementID) -> Changes {
    changes { Self.change(of: entitlement, in: $0) }
  }

  func changes(of group: SubscriptionGroupID) -> Changes {
    changes { Self.change(of: group, in: $0) }
  }

  private func changes(_ change: (Step) -> Decision?) -> Changes {
    var changes: [ExpectedChange] = []
    for step in steps {
      guard let decision = change(step) else { continue }
      if changes.count == ExplanationBounds.knownChanges {
        return Changes(listed: changes, completeUntil: changes.last?.at)
      }
      changes.append(ExpectedChange(at: step.after.now, decision: decision))
    }
    return Changes(listed: changes, completeUntil: examinedUntil)
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
    // A customer may have thousands of sources, most of them in both lists.
    let (before, after) = differing(before, after)
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
    // The lists differ, so one source is new.
    guard let other = after.first(where: { !known.contains($0) }) ?? after.first else {
      return step.after.decision(on: entitlement, by: step.after.finding(on: entitlement))
    }
    let decision = step.after.decision(on: entitlement, by: other.origin)
    return Decision(decision.rule, "It stays, with another end: " + decision.sentence)
  }

  /// Both lists without the sources at the beginning and at the end in which they are equal.
  private static func differing(
    _ left: [EntitlementSource], _ right: [EntitlementSource]
  ) -> (ArraySlice<EntitlementSource>, ArraySlice<EntitlementSource>) {
    let shorter = min(left.count, right.count)
    var start = 0
    while start < shorter, left[start] == right[start] { start += 1 }
    var end = 0
    while end < shorter - start, left[left.count - 1 - end] == right[right.count - 1 - end] {
      end += 1
    }
    return (left[start..<(left.count - end)], right[start..<(right.count - end)])
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
    decision(on: entitlement, by: finding(on: entitlement, by: origin) ?? finding(on: entitlement))
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
