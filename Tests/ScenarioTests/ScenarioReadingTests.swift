import Foundation
import Scenarios
import StoreSimulator
import TestSupport
import Testing

@Suite("Reading scenario files")
struct ScenarioReadingTests {
  /// The issues of a file with this text, one a line.
  private func issues(_ text: String) throws -> String {
    let folder = try TemporaryFolder()
    do {
      _ = try Scenario.load(try folder.write(text, to: "scenario.yaml"))
      return ""
    } catch {
      return "\(error)"
    }
  }

  /// The issues of a step in an otherwise valid scenario.
  private func issues(step: String) throws -> String {
    try issues("scenario: x\naccount: a\nsteps:\n  - \(step)\n")
  }

  @Test("All issues are reported at once, with line and field, in the order of the file")
  func everything() throws {
    let told = try issues(
      """
      scenario: Wrong in many places
      rules: [R19, soon]
      colour: red
      environment: Moon
      steps:
        - at: yesterday
          submit:
            transactions:
              - transactionId: 1
                productId: com.example.scribe.adfree
                purchasedate: 2026-01-10T09:00:00Z
          expect: {results: [{verdikt: OK}]}
        - state: {coreSate: ACTIVE, entitlements: pro}
          customer: {account: anna}
          at: {from: 2026-02-01T00:00:00Z, until: 2026-01-01T00:00:00Z}
      """)
    let places = told.split(separator: "\n").map { $0.split(separator: ":")[0] }
    #expect(
      places == [
        "line 2, rules[1]", "line 3, colour", "line 4, environment", "line 6, steps[0].at",
        "line 9, steps[0].submit.transactions[0].purchaseDate",
        "line 11, steps[0].submit.transactions[0].purchasedate",
        "line 12, steps[0].expect.results[0].verdikt", "line 13, steps[1].state.coreSate",
        "line 13, steps[1].state.entitlements", "line 15, steps[1].at",
      ])
  }

  @Test(
    "A file that is not a scenario is refused",
    arguments: [
      ("", "line 1, document: the file is empty"),
      ("[]", "line 1, document: a mapping is expected"),
      ("scenario: x", "line 1, steps: missing"),
      ("scenario: x\nsteps: []", "line 2, steps: at least one is needed"),
      ("steps: [", "not YAML"),
      ("scenario: x\nscenario: y", "the same key twice: scenario"),
      ("scenario: x\n---\nscenario: y", "not YAML"),
      ("scenario: &a x\nabout: *a", "line 1, document: anchors and aliases are not used"),
    ])
  func noScenario(text: String, told: String) throws {
    #expect(try issues(text).contains(told))
  }

  @Test(
    "An invalid step is reported",
    arguments: [
      ("{at: 1768035600000}", "steps[0]: one of notification, submit"),
      (
        "{at: 1768035600000, submit: {}, again: x}",
        "steps[0]: only one of submit, again is possible"
      ),
      ("{at: 1768035600000, submit: {}}", "steps[0].submit: nothing is submitted"),
      ("{submit: {signed: [a.b.c]}}", "steps[0].at: missing; no step above has a time"),
      ("{at: 5, submit: {signed: [a.b.c]}}", "steps[0].at: between 2009-07-01 and 2099-01-01"),
      ("{at: 1768035600000, again: x}", "steps[0].again: no step above has this name"),
      (
        "{at: 1768035600000, notification: {subtype: VOLUNTARY}}",
        "steps[0].notification.type: missing"
      ),
      (
        "{at: 1768035600000, notification: {type: TEST, status: 1, summary: {}}}",
        "steps[0].notification: a notification is about one of data, summary"
      ),
      (
        "{at: 1768035600000, submit: {transactions: [january]}}",
        "steps[0].submit.transactions[0]: no fact above has this name"
      ),
      (
        "{at: 1768035600000, submit: {transactions: [{transactionId: 1, productId: unheard.of, "
          + "purchaseDate: 1}]}}",
        "steps[0].submit.transactions[0].type: missing; the catalog does not know the product"
      ),
      (
        "{at: 1768035600000, submit: {transactions: [{transactionId: 1, "
          + "productId: com.example.scribe.adfree, purchaseDate: soon}]}}",
        "steps[0].submit.transactions[0].purchaseDate: a moment is expected"
      ),
      (
        "{at: 1768035600000, submit: {renewal_infos: [{autoRenewStatus: 1}]}}",
        "steps[0].submit.renewal_infos[0].originalTransactionId: missing"
      ),
      (
        "{at: 1768035600000, submit: {signed: [{file: none.jws}]}}", "file: the file cannot be read"
      ),
      ("{at: 1768035600000, grant: {reason: x}}", "steps[0].grant.entitlement: missing"),
      ("{at: 1768035600000, grant: {entitlement: pro}, account: null}", "a grant needs one"),
      ("{at: 1768035600000, withdraw_grant: {}}", "steps[0].withdraw_grant.id: missing"),
      ("{life_cycle: {name: unheard-of}}", "steps[0].life_cycle.name: unknown; allowed: first-"),
      ("{life_cycle: {name: grace}}", "steps[0].life_cycle.start: missing; it begins here"),
      ("{life_cycle: {name: grace, start: 1768035600000}, at: 1}", "steps[0].at: life_cycle has"),
      ("{at: 1768035600000, catalog: nowhere.yaml}", "nowhere.yaml: the file cannot be read"),
      (
        "{at: 1768035600000, catalog: {version: 2}}",
        "steps[0].catalog.version: only version 1 is supported"
      ),
      ("{at: 1, state: {}, name: x}", "steps[0].name: state has no such field"),
      ("{state: {}}", "steps[0].at: missing"),
      ("{at: 1, state: {}, customer: {account: a, transactionId: 1}}", "customer: one of account"),
      ("{at: 1, state: {groups: [{standing: {}}]}}", "steps[0].state.groups[0].groupId: missing"),
      ("{at: 1, explain: {groups: {a: grace}}}", "steps[0].explain.groups.a: a rule is expected"),
      ("{at: 1, offers: {back: true}}", "steps[0].offers: a list is expected"),
      ("{at: 1, offers: [{offer: back}]}", "steps[0].offers[0].offer: unknown field"),
      ("{at: 1, offers: [], state: {}, knowledge: now}", "steps[0].knowledge: offers has no such"),
      (
        "{at: 1, offers: [{refusal: USED_UP}]}", "steps[0].offers[0].refusal: "
      ),
    ])
  func impossibleStep(step: String, told: String) throws {
    let issues = try issues(step: step)
    #expect(issues.contains(told), "\(issues)")
  }

  @Test("An error of an inline catalog has its line in the scenario")
  func inlineCatalog() throws {
    let told = try issues(
      """
      scenario: x
      bundle_id: com.example.scribe
      catalog:
        version: 1
        apps: [{bundle_id: com.example.scribe, app_apple_id: 1}]
        entitlements: []
        products:
          - id: a
            type: non_consumable
            duration: P1M
      steps: [{at: 1, state: {}, customer: {account: a}}]
      """)
    #expect(told.contains("line 10, catalog.products[0].duration"), "\(told)")
  }

  @Test("A step before the previous step is reported")
  func backwards() throws {
    let told = try issues(
      """
      scenario: x
      steps:
        - {at: 2026-01-02T00:00:00Z, submit: {signed: [a.b.c]}}
        - {at: 2026-01-01T00:00:00Z, submit: {signed: [a.b.c]}}
      """)
    #expect(told == "line 4, steps[1].at: before the step above")
  }

  @Test("A query without a customer needs a transaction in the scenario")
  func nobody() throws {
    let told = try issues("scenario: x\nsteps: [{at: 1, state: {}}]")
    #expect(told.contains("line 2, steps[0]: no customer is selected"))
  }

  @Test("Folders are searched at any depth, except those of catalogs and hidden files")
  func search() throws {
    let folder = try TemporaryFolder()
    for name in ["b", "b/catalogs", "a", "a/deep"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
    for name in ["z.yaml", "b/catalogs/c.yaml", "a/deep/x.json", "a/y.yml", "a/n.txt", ".h.yaml"] {
      _ = try folder.write("", to: name)
    }
    let found = try ScenarioSearch.files(at: folder.path)
    #expect(
      found.map { $0.dropFirst(folder.path.count + 1) } == ["a/deep/x.json", "a/y.yml", "z.yaml"])
    #expect(throws: ScenarioError.self) { try ScenarioSearch.files(at: folder.file("b")) }
    #expect(throws: ScenarioError.self) { try ScenarioSearch.files(at: folder.file("none")) }
  }
}
