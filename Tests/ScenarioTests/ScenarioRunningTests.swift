import Foundation
import Scenarios
import StoreSimulator
import TestSupport
import Testing

@Suite("Running scenarios")
struct ScenarioRunningTests {
  private func report(_ text: String) async throws -> ScenarioReport {
    let folder = try TemporaryFolder()
    let runner = try ScenarioRunner()
    let report = try await runner.run(
      try Scenario.load(try folder.write(text, to: "scenario.yaml")))
    await runner.close()
    return report
  }

  private static let purchase = """
    scenario: x
    account: anna
    steps:
      - at: 2026-01-10T09:00:00Z
        submit:
          transactions:
            - transactionId: 1001
              productId: com.example.scribe.pro.monthly
              purchaseDate: 2026-01-10T09:00:00Z
              expiresDate: 2026-02-10T09:00:00Z

    """

  @Test("Each wrong expectation is a readable difference, and the run continues")
  func differences() async throws {
    let report = try await report(
      Self.purchase + """
            expect: {results: [{disposition: DISPOSITION_DUPLICATE}]}
          - state:
              coreState: CORE_STATE_INACTIVE
              entitlements: [pro, vip]
              nextTransitionAt: 2026-02-10T09:00:00.001Z
              callsToAction: []
              groups:
                "21000001": {standing: {status: DETAILED_STATUS_GRACE, willRenew: absent, offer: {type: 1}}}
                "21000009": {trialUsed: true}
              products: {com.example.scribe.pro.monthly: absent}
          - state: {entitlements: {pro: {sources: [{transactionId: 1002}, {}]}}}
            at: 2026-01-11T00:00:00.500Z

        """)
    #expect(!report.hasPassed)
    #expect(
      report.differences.prefix(8).map(\.description) == [
        """
        11: 2026-01-10T09:00:00Z: steps[0].expect.results[0].disposition
          expected  DISPOSITION_DUPLICATE
          actual    DISPOSITION_ADDED
        """,
        """
        13: 2026-01-10T09:00:00Z: coreState
          expected  CORE_STATE_INACTIVE
          actual    CORE_STATE_ACTIVE
        """,
        """
        14: 2026-01-10T09:00:00Z: entitlements
          expected  [pro, vip]
          actual    [basic, pro]
        """,
        """
        15: 2026-01-10T09:00:00Z: nextTransitionAt
          expected  2026-02-10T09:00:00.001Z
          actual    2026-02-10T09:00:00Z
        """,
        """
        16: 2026-01-10T09:00:00Z: callsToAction
          expected  []
          actual    [CALL_TO_ACTION_NONE]
        """,
        """
        18: 2026-01-10T09:00:00Z: groups.21000001.standing.status
          expected  DETAILED_STATUS_GRACE
          actual    DETAILED_STATUS_ACTIVE
        """,
        """
        18: 2026-01-10T09:00:00Z: groups.21000001.standing.offer
          expected  present
          actual    absent
        """,
        """
        19: 2026-01-10T09:00:00Z: groups.21000009
          expected  present
          actual    absent; there are [21000001]
        """,
      ])
    let rest = report.differences.dropFirst(8)
    #expect(
      rest.map(\.field) == [
        "products.com.example.scribe.pro.monthly", "entitlements.pro.sources",
        "entitlements.pro.sources[0].transactionId",
      ])
    #expect(rest.map(\.line) == [20, 21, 21])
    #expect(rest.first?.expected == "absent")
  }

  @Test("An unexpected refusal is a difference with its reason")
  func refusal() async throws {
    let report = try await report(
      """
      scenario: x
      account: anna
      steps:
        - {at: 2026-01-10T09:00:00Z, submit: {signed: [not.a.jws]}}
        - {at: 2026-01-10T09:00:00Z, submit: {signed: [not.a.jws]}, expect: {results: [{}]}}
        - at: 2026-01-10T09:00:00Z
          submit: {signed: [not.a.jws]}
          expect: {results: [{verdict: VERDICT_MALFORMED}]}
        - at: 2026-01-10T09:00:00Z
          notification: {type: TEST, data: {bundleId: com.example.elsewhere}}
        - {at: 2026-01-10T09:00:00Z, grant: {entitlement: unheard-of}}
      """)
    #expect(report.differences.map(\.line) == [4, 5, 9, 11])
    #expect(report.differences[0].actual.hasPrefix("VERDICT_MALFORMED: "))
    #expect(report.differences[2].actual.hasPrefix("VERDICT_WRONG_APP: "))
    #expect(report.differences[3].actual == "the catalog names no such entitlement")
  }

  /// Anna has the purchase, then Bert claims it: the last claim wins.
  private static let claims = """
    scenario: x
    facts:
      bought:
        transactionId: 1001
        productId: com.example.scribe.adfree
        purchaseDate: 2026-01-10T09:00:00Z
    steps:
      - {at: 2026-01-10T09:00:00Z, account: anna, submit: {transactions: [bought]}}
      - at: 2026-01-11T09:00:00Z
        account: bert
        submit: {transactions: [bought]}
      - {state: {entitlements: [ad_free]}, customer: {account: bert}}

    """

  @Test("A state that depends on the order is reported, unless the file allows it (R3)")
  func otherOrders() async throws {
    let report = try await report(Self.claims)
    let variants = Set(report.differences.map(\.variant))
    #expect(variants == ["facts one by one in reverse order"])
    #expect(
      report.differences.contains { $0.field == "coreState" && $0.actual == "CORE_STATE_NEW" })
    #expect(report.differences.allSatisfy { $0.line == 12 })

    let unshuffled = try await self.report("shuffle: false\n" + Self.claims)
    #expect(unshuffled.hasPassed)
  }

  @Test("Each shown state can be used as an expectation")
  func shownStates() async throws {
    let runner = try ScenarioRunner()
    for file in ScenarioPaths.files where file.hasPrefix("format/") {
      let path = "\(ScenarioPaths.folder)/\(file)"
      let report = try await runner.run(try Scenario.load(path))
      for state in report.states {
        #expect(state.text.contains("state:"), "\(file)")
      }
    }
    let bought = try await report(
      Self.purchase + """
            expect: {results: [{}]}
          - state: {}
            at: {from: 2026-01-10T09:00:00Z, until: 2026-06-10T09:00:00Z}
          - state: {}
            customer: {appAccountToken: "5B8C: 0"}

        """)
    let again = try await report(
      Self.purchase + bought.states.map { $0.text + "\n" }.joined())
    #expect(bought.states.count == 3)
    #expect(again.differences.map(\.description) == [])
    await runner.close()
  }

  @Test("The example of the documentation is one of the scenario files")
  func documentedExample() throws {
    let page = try String(
      contentsOf: ScenarioPaths.package.appending(path: "deploy/docs/scenarios.md"),
      encoding: .utf8)
    let blocks = page.components(separatedBy: "```yaml\n").dropFirst()
    let example = try #require(blocks.first?.components(separatedBy: "```\n").first)
    let file = try String(
      contentsOfFile: "\(ScenarioPaths.folder)/format/complete-example.yaml", encoding: .utf8)
    #expect(example == file)
  }
}
