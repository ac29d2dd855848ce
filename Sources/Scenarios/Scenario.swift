import EntitlementDomain

/// A scenario that can be run: what is received and done, and what must be answered.
package struct Scenario: Sendable {
  package let title: String
  package let about: String?
  /// The domain rules and named cases that it shows, as written: `R19`, `case 2`.
  package let rules: [String]
  /// In force when it begins.
  let catalog: Catalog
  /// Whether other orders must lead to the same states (R3).
  let isShuffled: Bool
  let steps: [ScenarioStep]
}
