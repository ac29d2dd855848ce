import EntitlementDomain
import Yams

/// What a step says beside what it does.
struct StepFrame {
  let node: Node
  let path: String
  let account: AccountID?
  let scope: AppScope
  let atNode: Node?
}
