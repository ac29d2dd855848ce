import EntitlementDomain
import StoreSimulator

/// What the simulated App Store tells in one step.
struct LifeCycleEvents: Sendable {
  let lifeCycle: LifeCycle
  /// In the order of signing; each is received at its own moment.
  let events: [StoreEvent]
  let delivery: Delivery
}
