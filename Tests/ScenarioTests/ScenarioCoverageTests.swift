import EntitlementDomain
import StoreSimulator
import Testing

@testable import Scenarios

/// Checks that the scenarios cover all cases, notifications and life cycles.
@Suite("The scenarios under Tests/Scenarios, taken together")
struct ScenarioCoverageTests {
  /// The scenarios that can be read. The others fail ``ScenarioFileTests``.
  private static let scenarios = ScenarioPaths.files.compactMap { file in
    try? Scenario.load("\(ScenarioPaths.folder)/\(file)")
  }

  @Test("cite each of the 26 named cases")
  func namedCases() {
    let cited = Set(Self.scenarios.flatMap(\.rules))
    #expect((1...26).map { "case \($0)" }.filter { !cited.contains($0) } == [])
  }

  @Test("send a notification of each type and subtype")
  func notifications() {
    var sent: Set<[String]> = []
    for case .notification(let plan) in Self.scenarios.flatMap(\.steps).map(\.action) {
      guard case .text(let type) = plan.outer["notificationType"] else { continue }
      if case .text(let subtype) = plan.outer["subtype"] {
        sent.insert([type, subtype])
      } else {
        sent.insert([type])
      }
    }
    let known = NotificationForm.all.map { form in
      [form.type.rawValue] + [form.subtype?.rawValue].compactMap(\.self)
    }
    #expect(known.filter { !sent.contains($0) } == [])
  }

  @Test("play each life cycle of the simulator")
  func lifeCycles() {
    var told: Set<LifeCycle> = []
    for case .lifeCycle(let events) in Self.scenarios.flatMap(\.steps).map(\.action) {
      told.insert(events.lifeCycle)
    }
    #expect(LifeCycle.allCases.filter { !told.contains($0) } == [])
  }
}
