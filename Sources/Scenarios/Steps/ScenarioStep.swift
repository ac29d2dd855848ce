import EntitlementDomain
import EntitlementService

/// One thing that happens, or is asked.
struct ScenarioStep: Sendable {
  enum Action: Sendable {
    case notification(PlannedNotification)
    case submission([HandedIn])
    case lifeCycle(LifeCycleEvents)
    case grant(GrantRequest)
    case withdrawal(PlannedWithdrawal)
    case catalog(Catalog)
    case question(Question)
  }

  /// Of its beginning in the file, from 1.
  let line: Int
  /// Where it is in the document, such as `steps[2]`.
  let path: String
  /// When it is received or done; of a question, when the step before it was.
  let at: Milliseconds
  /// Whom a submission names.
  let account: AccountID?
  let action: Action
  /// Of the answer to a notification or a submission.
  let expectation: Expectation?
}
