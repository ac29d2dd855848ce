import EntitlementDomain
import StoreSimulator

/// How far a life cycle was told.
struct LifeCycleProgress {
  let timeline: Timeline
  let delivery: Delivery
  var toldUntil: Milliseconds?
}
