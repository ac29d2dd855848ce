import EntitlementDomain
import StoreSimulator

/// One submitting call, with its facts.
struct SignedStep: Sendable {
  let call: DeliveryStep
  /// For a call of single facts, in the order of the call.
  let facts: [Fact]
}
