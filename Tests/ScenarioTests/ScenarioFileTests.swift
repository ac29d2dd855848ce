import Testing

@testable import Scenarios

@Suite("Every scenario under Tests/Scenarios")
struct ScenarioFileTests {
  /// Keys are made once for all files.
  private static let runner = Result { () throws(ScenarioError) in try ScenarioRunner() }

  @Test("passes", arguments: ScenarioPaths.files)
  func passes(file: String) async throws {
    let scenario: Scenario
    do {
      scenario = try Scenario.load("\(ScenarioPaths.folder)/\(file)")
    } catch {
      Issue.record("\(file):\n\(error)")
      return
    }
    let report = try await Self.runner.get().run(scenario)
    for difference in report.differences { Issue.record("\(file):\(difference.description)") }
  }

  @Test("is found")
  func found() throws {
    #expect(!(try ScenarioSearch.files(at: ScenarioPaths.folder)).isEmpty)
  }
}
