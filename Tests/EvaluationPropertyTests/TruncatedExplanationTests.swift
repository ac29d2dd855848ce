import EntitlementDomain
import TestSupport
import Testing

@Suite("Explanations of customers that have more than an explanation lists")
struct TruncatedExplanationTests {
  private func explain(_ record: CustomerRecord) -> Explanation {
    Evaluation.explain(record, catalog: LargeCustomer.catalog, at: LargeCustomer.now)
  }

  @Test(
    "R31: of 10,000 groups the best 500 are listed, whatever the order of the facts, and counted")
  func groups() throws {
    var record = LargeCustomer.groups.record(10_000)
    // One of them is in force.
    guard case .transaction(var active) = record.facts[7_000] else { return }
    active.revocationDate = nil
    active.expiresDate = LargeCustomer.now.advanced(by: Milliseconds.dayLength)
    record.facts[7_000] = .transaction(active)
    let explanation = explain(record)
    let omitted = try #require(explanation.omitted)
    #expect(explanation.groups.count == 500)
    #expect(explanation.state.groups.map(\.groupID) == explanation.groups.map(\.groupID))
    #expect(explanation.groups.first?.groupID == active.subscriptionGroupID)
    #expect(explanation.groups.first?.status == .active)
    #expect(omitted.groups == 9_500)
    #expect(omitted.products == 9_500)
    #expect(explanation.state.products.first?.productID == active.productID)
    #expect(omitted.sources == 0)

    var random = SeededRandom(for: "truncated explanations")
    var other = record
    other.facts.shuffle(using: &random)
    #expect(explain(other) == explanation)
  }

  @Test(
    "R31: an explanation of 10,000 chains lists the deciding ones first and counts the rest")
  func chains() throws {
    let explanation = explain(LargeCustomer.active.record(10_000))
    let pro = try #require(explanation.entitlements.first { $0.entitlementID == "pro" })
    #expect(pro.isConferred)
    #expect(pro.reasoning.considered.count == 50)
    #expect(pro.reasoning.considered[0].isDecisive)
    #expect(
      explanation.state.entitlements[0].sources[0].origin.transaction
        == pro.reasoning.considered[0].identifier)
    #expect(pro.reasoning.consideredOmitted == 9_950)
    let listed = explanation.state.entitlements[0].sources.count
    #expect(listed == 4_000)
    #expect(explanation.omitted == ExplanationOmissions(sources: 10_000 - listed))
    // Each chain ends at another moment, and few of these are examined.
    let moments = pro.reasoning.changes.compactMap(\.at)
    #expect(!moments.isEmpty)
    #expect(pro.reasoning.changesCompleteUntil == moments.last)
  }

  @Test("R31: the known changes are complete up to the moment that the explanation gives")
  func completeness() throws {
    for shape in [LargeCustomer.active, .lapsed, .groups, .mixed, .upgrades, .gaps] {
      let record = shape.record(60)
      let explanation = explain(record)
      #expect(explanation.omitted == nil)
      for group in explanation.groups {
        let reasoning = group.reasoning
        let last = reasoning.changes.compactMap(\.at).last ?? LargeCustomer.now
        let end = reasoning.changesCompleteUntil ?? LargeCustomer.now.advanced(by: 1 << 45)
        #expect(end >= last)
        func shown(at moment: Milliseconds) -> GroupState? {
          Evaluation.state(of: record, catalog: LargeCustomer.catalog, at: moment).groups
            .first { $0.groupID == group.groupID }
        }
        #expect(shown(at: last) == shown(at: end), "\(shape), from \(last) to \(end)")
      }
    }
  }

  @Test("R31: a whole explanation says that nothing is missing")
  func whole() {
    let explanation = explain(LargeCustomer.active.record(3))
    #expect(explanation.omitted == nil)
    for reasoning in explanation.entitlements.map(\.reasoning) + explanation.groups.map(\.reasoning)
    {
      #expect(reasoning.consideredOmitted == 0)
    }
    #expect(explanation.truncated(to: 500) == explanation)
  }

  @Test("R31: a truncated explanation can be truncated further, and counts all that is missing")
  func further() throws {
    for shape in [LargeCustomer.groups, .active, .mixed, .products] {
      let explanation = explain(shape.record(1_000))
      let shorter = explanation.truncated(to: 30)
      func total(_ explanation: Explanation) -> [Int] {
        let omitted = explanation.omitted ?? ExplanationOmissions()
        let state = explanation.state
        return [
          explanation.entitlements.count + omitted.entitlements,
          state.groups.count + omitted.groups,
          explanation.groups.count + omitted.groups, state.products.count + omitted.products,
          state.entitlements.flatMap(\.sources).count + omitted.sources,
          explanation.entitlements.reduce(0) {
            $0 + $1.reasoning.considered.count + $1.reasoning.consideredOmitted
          },
        ]
      }
      #expect(total(shorter) == total(explanation), "\(shape)")
      #expect(shorter.groups.count <= 30)
      #expect(shorter.state.products.count <= 30)
      #expect(shorter.state.products.map(\.standing.status.rawValue).max() != nil)
    }
  }

  @Test("R31: an explanation of 100,000 chains, purchases or periods ends in bounded time")
  func bounded() {
    for shape in [LargeCustomer.active, .groups, .stack, .products] {
      let record = shape.record(100_000)
      let clock = ContinuousClock()
      let time = clock.measure { _ = explain(record) }
      print("\(shape): 100,000 explained in \(time)")
      // Before, no answer came in 200 s.
      #expect(time < .seconds(60))
    }
  }
}

extension EntitlementSource.Origin {
  fileprivate var transaction: String? {
    guard case .purchase(let id, _, _) = self else { return nil }
    return id.rawValue
  }
}
