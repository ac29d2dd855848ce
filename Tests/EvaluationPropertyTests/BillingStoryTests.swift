import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: stories of Apple's billing are told as they happened")
struct BillingStoryTests {
  @Test("R17, R18, R62: a customer has the product that was bought last, at each moment")
  func subscriptions() {
    let name = "stories of subscriptions"
    let first = SeededRandom(for: name).seed
    var evaluations = 0
    for round in Rounds(10_000, of: name) {
      let story = BillingStory(seed: first &+ UInt64(round))
      let record = CustomerRecord(scope: BillingStory.scope, facts: story.facts)
      for moment in story.moments {
        evaluations += 1
        let state = Evaluation.state(of: record, catalog: BillingStory.catalog, at: moment)
        let active = state.products.filter { $0.standing.coreState == .active }.map(\.productID)
        let conferred = state.entitlements.map(\.entitlementID.rawValue)
        let product = story.product(at: moment)
        let expected = [product].compactMap { $0 }
        if active == expected, conferred == expected.map(\.rawValue) { continue }
        Issue.record(
          "TEST_SEED=\(first &+ UInt64(round)): \(active) at \(moment), not \(expected): \(story)")
        return
      }
    }
    print("\(name): \(evaluations) evaluations")
  }

  @Test("R6: a purchase under several transaction ids is one, until it is refunded")
  func oneTimePurchases() {
    let name = "stories of one-time purchases"
    let first = SeededRandom(for: name).seed
    for round in Rounds(10_000, of: name) {
      let story = OneTimeStory(seed: first &+ UInt64(round))
      let record = CustomerRecord(scope: BillingStory.scope, facts: story.facts)
      for moment in story.moments {
        let state = Evaluation.state(of: record, catalog: OneTimeStory.catalog, at: moment)
        let told = state.entitlements.map { entitlement in
          "\(entitlement.entitlementID) by \(entitlement.sources.count)"
        }
        let expected = story.entitlements(at: moment)
        if told == expected { continue }
        Issue.record(
          "TEST_SEED=\(first &+ UInt64(round)): \(told) at \(moment), not \(expected): \(story)")
        return
      }
    }
  }
}
