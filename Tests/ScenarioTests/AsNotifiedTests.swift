import Foundation
import Scenarios
import TestSupport
import Testing

@Suite("Each moment as its notification said (R54)")
struct AsNotifiedTests {
  private static let lifeCycles = ScenarioPaths.files.filter { path in
    guard path.hasPrefix("life-cycles/") else { return false }
    let text = try? String(contentsOfFile: ScenarioPaths.folder + "/" + path, encoding: .utf8)
    return text?.contains("as_notified: true") == true
  }

  @Test("holds for most life cycles of the simulator")
  func coverage() {
    #expect(Self.lifeCycles.count >= 40)
  }

  @Test("holds in any order of arrival (R3)", arguments: lifeCycles)
  func orders(path: String) async throws {
    var random = SeededRandom(for: "orders of \(path)")
    let orders = (0..<4).map { _ in ReplayOrder.shuffled(seed: random.next()) }
    let runner = try ScenarioRunner()
    let report = try await runner.run(
      try Scenario.load(ScenarioPaths.folder + "/" + path), in: orders)
    await runner.close()
    #expect(report.hasPassed, "\(report.differences.map(\.description).joined(separator: "\n"))")
  }

  private func differences(_ steps: String) async throws -> [String] {
    let folder = try TemporaryFolder()
    let runner = try ScenarioRunner()
    let text = """
      scenario: x
      account: anna
      shuffle: false
      facts:
        january:
          transactionId: 1001
          productId: com.example.scribe.pro.monthly
          purchaseDate: 2026-01-10T09:00:00Z
          expiresDate: 2026-02-10T09:00:00Z
      steps:

      """
    let report = try await runner.run(
      try Scenario.load(try folder.write(text + steps, to: "scenario.yaml")))
    await runner.close()
    return report.differences.map(\.description)
  }

  @Test("A state that is not as notified is a difference, with the type and the field")
  func difference() async throws {
    let differences = try await differences(
      """
        - at: 2026-01-10T09:00:00Z
          notification: {type: SUBSCRIBED, status: 1, transaction: january,
                         renewal_info: {autoRenewStatus: 1}}
        - at: 2026-01-20T09:00:00Z
          notification: {type: DID_CHANGE_RENEWAL_STATUS, subtype: AUTO_RENEW_DISABLED, status: 3,
                         transaction: january, renewal_info: {autoRenewStatus: 0}}
        - as_notified: true

      """)
    #expect(
      differences == [
        """
        14: 2026-01-20T09:00:00Z: \
        as_notified.DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED.status
          expected  BILLING_RETRY
          actual    ACTIVE
        """
      ])
  }

  @Test("It is a difference when there is nothing to compare")
  func nothing() async throws {
    let differences = try await differences(
      """
        - at: 2026-01-10T09:00:00Z
          submit: {transactions: [january]}
        - as_notified: true

      """)
    #expect(differences.count == 1)
    #expect(differences.first?.contains("as_notified") == true)
  }

  @Test("Another value than true, and a step without a notification above, are reported")
  func invalid() throws {
    let folder = try TemporaryFolder()
    for (steps, problem) in [
      ("  - as_notified: true\n", "no notification above"),
      ("  - at: 2026-01-10T09:00:00Z\n    submit: {signed: [x]}\n  - as_notified: no\n", "true"),
    ] {
      let path = try folder.write("scenario: x\nsteps:\n" + steps, to: "scenario.yaml")
      let error = #expect(throws: ScenarioError.self) { try Scenario.load(path) }
      #expect(error.map { "\($0)" }?.contains(problem) == true)
    }
  }
}
