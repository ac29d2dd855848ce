import EntitlementDomain
import EntitlementService
import StoreSimulator

/// A scenario that can be run: its steps and the expected answers.
package struct Scenario: Sendable {
  package let title: String
  package let about: String?
  /// The rules and named cases of rules.md that it covers, as written: `R19`, `case 2`.
  package let rules: [String]
  /// The catalog in force at the start.
  let catalog: Catalog
  /// Whether the facts are also submitted in other orders, which must give the same states (R3).
  let isShuffled: Bool
  let steps: [ScenarioStep]
}

/// One step of a scenario: an event or a query.
struct ScenarioStep: Sendable {
  enum Action: Sendable {
    case notification(PlannedNotification)
    case submission([SubmissionItem])
    case lifeCycle(LifeCycleEvents)
    case grant(GrantRequest)
    case withdrawal(PlannedWithdrawal)
    case catalog(Catalog)
    case query(ScenarioQuery)
    /// The states at the signing of all notifications so far say what these said (R54).
    case asNotified
  }

  /// The step's first line in the file, from 1.
  let line: Int
  /// The path in the document, such as `steps[2]`.
  let path: String
  /// The time of the step. A query has the time of the step before it.
  let at: Milliseconds
  /// The account that a submission names.
  let account: AccountID?
  let action: Action
  /// The expected answer to a notification or a submission.
  let expectation: Expectation?
}

/// A query of a customer's state, at one time or several.
struct ScenarioQuery: Sendable {
  let scope: AppScope
  /// Nil while the file is read: the reader then fills in the first chain of the scenario.
  var selector: CustomerSelector?
  let moments: [Milliseconds]
  let knowledge: Knowledge
  let state: Expectation?
  /// The expected deciding rules, by id of an entitlement or a group.
  let explanation: Expectation?
  /// The expected verdicts on the offers of the app (R82–R84).
  let offers: Expectation?
}

/// The events that the simulated App Store sends in one step.
struct LifeCycleEvents: Sendable {
  let lifeCycle: LifeCycle
  /// In the order of signing. Each is received at its own time.
  let events: [StoreEvent]
  let delivery: Delivery
}

/// The withdrawal of a grant.
struct PlannedWithdrawal: Sendable {
  let id: GrantID
  let scope: AppScope
  let onBehalfOf: String?
  let reason: String
}
