/// What a run of a scenario found.
package struct ScenarioReport: Sendable {
  package let title: String
  /// In the order in which they were found; empty when the scenario passed.
  package let differences: [Difference]
  /// What each `state` step really found, in the order of the file.
  package let states: [FoundState]

  package var hasPassed: Bool { differences.isEmpty }
}
