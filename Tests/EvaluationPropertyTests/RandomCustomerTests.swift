import EntitlementDomain
import Foundation
import TestSupport
import Testing

@Suite("Random customers")
struct RandomCustomerTests {
  /// All values that occurred in states, as text.
  private struct ObservedValues {
    var values: Set<String> = []

    mutating func add(_ state: CustomerState) {
      insert("core", state.coreState)
      for call in state.callsToAction { insert("call", call) }
      for product in state.products { add(product.standing) }
      for rule in state.grandfathering { insert("outcome", rule.outcome) }
      for source in state.entitlements.flatMap(\.sources) {
        let evidence = source.evidence.map { "\($0)" } ?? "nothing"
        switch source.origin {
        case .purchase: insert("source", "purchase by \(evidence)")
        case .grant: insert("source", "grant by \(evidence)")
        case .grandfathering: insert("source", "grandfathering by \(evidence)")
        }
      }
      insert("transition", state.nextTransitionAt != nil)
    }

    private mutating func add(_ standing: Standing) {
      insert("status", standing.status)
      if let reason = standing.expirationReason { insert("reason", reason) }
      for notice in standing.notices { insert("notice", notice) }
      if standing.pendingChange != nil { insert("pending", "change") }
      if !standing.winBackOfferIDs.isEmpty { insert("pending", "win-back") }
    }

    mutating func insert(_ name: String, _ value: some Any) {
      values.insert("\(name) \(value)")
    }
  }

  /// Otherwise the properties could hold for lack of cases.
  @Test("Random customers reach all values of a state")
  func variety() {
    var observed = ObservedValues()
    let first = SeededRandom(for: "variety").seed
    for index in 0..<3_000 {
      var customer = RandomCustomer(seed: first &+ UInt64(index))
      observed.add(customer.state(at: customer.clock()))
    }
    var expected = ObservedValues()
    for value in CoreState.allCases { expected.insert("core", value) }
    for value in CallToAction.allCases { expected.insert("call", value) }
    for value in DetailedStatus.allCases { expected.insert("status", value) }
    for value in ExpirationReason.allCases { expected.insert("reason", value) }
    for value in Notice.allCases { expected.insert("notice", value) }
    for value in GrandfatheringOutcome.allCases { expected.insert("outcome", value) }
    for value in ["signedTransaction", "receipt", "archivedResponse"] {
      expected.insert("source", "purchase by \(value)")
      expected.insert("source", "grandfathering by \(value)")
    }
    // The second value comes from simulated values of the catalog.
    for value in ["grant", "grandfathering"] { expected.insert("source", "\(value) by nothing") }
    for value in ["change", "win-back"] { expected.insert("pending", value) }
    for value in [true, false] { expected.insert("transition", value) }
    #expect(observed.values == expected.values)
  }

  @Test("The same seed makes the same customer, and another seed another one")
  func seeds() {
    #expect(RandomCustomer(seed: 7).record == RandomCustomer(seed: 7).record)
    #expect(RandomCustomer(seed: 7).catalog == RandomCustomer(seed: 7).catalog)
    #expect(RandomCustomer(seed: 7).record != RandomCustomer(seed: 8).record)
  }
}

@Suite("Rounds of a property")
struct RoundsTests {
  @Test("All rounds run in a thorough run")
  func all() {
    #expect(Array(Rounds(25, of: "all rounds", within: .seconds(3_600))) == Array(0..<25))
    #expect(Array(Rounds(0, of: "no rounds")).isEmpty)
  }

  @Test("At least a tenth of the rounds, rounded up, or all in a thorough run")
  func some() {
    let count = Array(Rounds(25, of: "some rounds", within: .zero)).count
    let isThorough = ProcessInfo.processInfo.environment["TEST_THOROUGH"] != nil
    #expect(count == (isThorough ? 25 : 3))
  }
}
