import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: time changes a state only at its transitions")
struct TransitionPropertyTests {
  /// How far the future is checked when there is no next transition.
  private static let horizon = 36_525 * Milliseconds.dayLength

  /// The part of a state that is equal at two moments without a change between them.
  private func content(_ state: CustomerState) -> CustomerState {
    var content = state
    content.evaluatedAt = 0
    content.nextTransitionAt = nil
    return content
  }

  @Test("R30: the state does not change before the next transition, and changes at it")
  func nextTransition() throws {
    try RandomCustomers.expect("next transition") { customer in
      let now = customer.clock()
      let state = customer.state(at: now)
      let next = state.nextTransitionAt
      guard next.map({ $0 > now }) ?? true else { return "a transition at \(now) that is no later" }
      let end = next ?? now.advanced(by: Self.horizon)
      var moments = end > now ? [end.advanced(by: -1)] : []
      for _ in 0..<2 where end > now {
        moments.append(
          Milliseconds(
            Int64.random(in: now.rawValue..<end.rawValue, using: &customer.random)))
      }
      // Each change is at a date of some fact.
      let dates = RandomClock.dates(of: customer.record).filter { $0 > now && $0 < end }
      if !dates.isEmpty { moments.append(customer.random.pick(dates)) }
      for moment in moments where content(customer.state(at: moment)) != content(state) {
        return "asked at \(now), it changes at \(moment), before \(end)"
      }
      if let next, content(customer.state(at: next)) == content(state) {
        return "asked at \(now), nothing changes at \(next)"
      }
      return nil
    }
  }

  @Test("R30: since the last boundary the state has been the same")
  func lastBoundary() throws {
    try RandomCustomers.expect("last boundary") { customer in
      let now = customer.clock()
      let outcome = Evaluation.evaluate(customer.record, catalog: customer.catalog, at: now)
      guard outcome.lastBoundaryAt.map({ $0 <= now }) ?? true else {
        return "a boundary later than \(now)"
      }
      let first = outcome.lastBoundaryAt ?? now.advanced(by: -Self.horizon)
      let between = Int64.random(in: first.rawValue...now.rawValue, using: &customer.random)
      for moment in [first, Milliseconds(between)] {
        let earlier = customer.state(at: moment)
        if content(earlier) != content(outcome.state)
          || earlier.nextTransitionAt != outcome.state.nextTransitionAt
        {
          return "the state of \(moment) is not that of \(now), though no boundary is between"
        }
      }
      return nil
    }
  }
}
