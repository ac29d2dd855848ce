import Foundation
import TestSupport
import Testing

@Suite("entitlectl scenario run")
struct ScenarioRunTests {
  private static let passing = """
    scenario: A purchase
    account: anna
    steps:
      - at: 2026-01-10T09:00:00Z
        submit:
          transactions:
            - transactionId: 1001
              productId: com.example.scribe.adfree
              purchaseDate: 2026-01-10T09:00:00Z
      - state: {coreState: CORE_STATE_ACTIVE, entitlements: [ad_free]}

    """

  private static let failing = passing.replacing("_ACTIVE", with: "_INACTIVE")

  /// One outcome in the JSON form.
  private struct Outcome: Decodable, Equatable {
    struct Difference: Decodable, Equatable {
      let line: Int
      let atMs: String
      let variant: String?
      let field: String
      let expected: String
      let actual: String
    }

    struct Problem: Decodable, Equatable {
      let line: Int
      let field: String
      let message: String
    }

    let file: String
    let scenario: String?
    let outcome: String
    let differences: [Difference]?
    let errors: [Problem]?
  }

  private func run(_ arguments: [String]) async throws -> ProgramRun {
    try await ProgramRun.of(.entitlectl, ["scenario", "run"] + arguments)
  }

  @Test("Passing scenarios: one line, and exit code 0")
  func passes() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(Self.passing, to: "a.yaml")
    _ = try folder.write(Self.passing, to: "b.yaml")
    let run = try await run([folder.path])
    #expect(run.output == "2 passed, 0 failed\n")
    #expect(run.errors == "")
    #expect(run.exit == .code(0))
  }

  @Test("A wrong expectation: file, line, date, field and both values, and exit code 1")
  func fails() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.failing, to: "a.yaml")
    let run = try await run([file, try folder.write(Self.passing, to: "b.yaml")])
    #expect(
      run.output == """
        \(file):10: 2026-01-10T09:00:00Z: coreState
          expected  CORE_STATE_INACTIVE
          actual    CORE_STATE_ACTIVE
        1 passed, 1 failed

        """)
    #expect(run.errors == "")
    #expect(run.exit == .code(1))
  }

  @Test("A malformed file and a missing one: each error, the others run, exit code 2")
  func unusable() async throws {
    let folder = try TemporaryFolder()
    let bad = try folder.write("scenario: x\nsteps: [{att: 1}]\n", to: "bad.yaml")
    let none = folder.file("none.yaml")
    let run = try await run([bad, none, try folder.write(Self.failing, to: "a.yaml")])
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 7)
    #expect(lines[0].hasPrefix("\(bad):2: steps[0].att: unknown field; allowed: notification, "))
    #expect(lines[1].hasPrefix("\(bad):2: steps[0]: one of notification, "))
    #expect(lines[2] == "\(none): there is no such file or folder")
    #expect(lines[6] == "0 passed, 3 failed")
    #expect(run.exit == .code(2))
  }

  @Test("--output json prints an array, jsonl one object a line; the count goes to stderr")
  func documents() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.failing, to: "a.yaml")
    let bad = try folder.write("scenario: x\n", to: "bad.yaml")
    let json = try await run([file, bad, "--output", "json"])
    let outcomes: [Outcome] = try json.document()
    #expect(
      outcomes == [
        Outcome(
          file: file, scenario: "A purchase", outcome: "FAILED",
          differences: [
            Outcome.Difference(
              line: 10, atMs: "1768035600000", variant: nil, field: "coreState",
              expected: "CORE_STATE_INACTIVE", actual: "CORE_STATE_ACTIVE")
          ], errors: nil),
        Outcome(
          file: bad, scenario: nil, outcome: "MALFORMED", differences: nil,
          errors: [Outcome.Problem(line: 1, field: "steps", message: "missing")]),
      ])
    #expect(json.errors == "0 passed, 2 failed\n")
    #expect(json.exit == .code(2))
    let lines = try await run([file, bad, "--output", "jsonl"])
    #expect(try lines.lines(Outcome.self) == outcomes)
  }

  @Test("Actual results are printed as steps of a scenario, which pass as expectations")
  func showsStates() async throws {
    let folder = try TemporaryFolder()
    let shown = try await run([
      try folder.write(Self.passing, to: "a.yaml"), "--show-states",
    ])
    let steps = shown.output.split(separator: "\n").filter { $0.hasPrefix(" ") }
      .joined(separator: "\n")
    #expect(steps.contains("coreState: CORE_STATE_ACTIVE"))
    let again = try await run([try folder.write(Self.passing + steps + "\n", to: "b.yaml")])
    #expect(again.output == "1 passed, 0 failed\n")
    #expect(again.exit == .code(0))
  }

  @Test("A run without files is a usage error")
  func usage() async throws {
    let run = try await run([])
    #expect(run.output == "")
    #expect(run.exit == .code(64))
  }
}
