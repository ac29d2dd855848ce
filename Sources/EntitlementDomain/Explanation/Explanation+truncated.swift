// Explanations of bounded size (R31).

extension Explanation {
  /// The largest number of elements in each list of an explanation.
  package static var listedElements: Int { ExplanationBounds.listed }

  /// The explanation with at most so many elements in each list, and the more in ``omitted``.
  package func truncated(to count: Int) -> Explanation {
    var omitted = omitted ?? ExplanationOmissions()
    var truncated = self
    truncated.state = state.truncated(to: count, omitting: &omitted)
    omitted.entitlements += entitlements.count - min(count, entitlements.count)
    truncated.entitlements = Array(entitlements.prefix(count))
    // A group that is explained is one of the state, which has counted what is left out.
    truncated.groups = Array(groups.prefix(truncated.state.groups.count))
    let limit = ExplanationBounds.considered(
      ofEach: truncated.entitlements.count + truncated.groups.count, listed: count)
    for index in truncated.entitlements.indices {
      truncated.entitlements[index].reasoning.truncateConsidered(to: limit)
    }
    for index in truncated.groups.indices {
      truncated.groups[index].reasoning.truncateConsidered(to: limit)
    }
    truncated.omitted = omitted.isEmpty ? nil : omitted
    return truncated
  }
}

extension Reasoning {
  fileprivate mutating func truncateConsidered(to count: Int) {
    consideredOmitted += max(0, considered.count - count)
    considered = Array(considered.prefix(count))
  }
}

extension ExplanationOmissions {
  /// Whether nothing was left out.
  var isEmpty: Bool { self == ExplanationOmissions() }
}

extension CustomerState {
  /// The state with at most so many elements in each list. Products and groups that are too many are
  /// those with the best standing, the best first (R28). All other lists keep their order.
  func truncated(to count: Int, omitting omitted: inout ExplanationOmissions) -> CustomerState {
    var truncated = self
    truncated.entitlements = Self.first(count, of: entitlements, &omitted.stateEntitlements)
    let limit = ExplanationBounds.sources(ofEach: truncated.entitlements.count, listed: count)
    for index in truncated.entitlements.indices {
      truncated.entitlements[index].sources = Self.first(
        limit, of: truncated.entitlements[index].sources, &omitted.sources)
    }
    truncated.products = Self.best(count, of: products, by: \.standing, &omitted.products)
    truncated.groups = Self.best(count, of: groups, by: \.standing, &omitted.groups)
    truncated.grandfathering = Self.first(count, of: grandfathering, &omitted.grandfathering)
    return truncated
  }

  private static func first<Element>(
    _ count: Int, of elements: [Element], _ omitted: inout Int
  ) -> [Element] {
    guard elements.count > count else { return elements }
    omitted += elements.count - count
    return Array(elements.prefix(count))
  }

  private static func best<Element>(
    _ count: Int, of elements: [Element], by standing: KeyPath<Element, Standing>,
    _ omitted: inout Int
  ) -> [Element] {
    guard elements.count > count else { return elements }
    omitted += elements.count - count
    // Sorted without the standings, which are large. The order of the elements decides ties.
    let ranks = elements.indices.map { index in
      (rank: elements[index][keyPath: standing].rank, index: index)
    }
    let best = ranks.sorted { left, right in
      StandingRank.isBetter(
        left.rank, than: right.rank, level: 0, orByID: left.index < right.index)
    }
    return best.prefix(count).map { elements[$0.index] }
  }
}
