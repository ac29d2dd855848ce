import EntitlementDomain
import StoreSimulator

/// One call that hands something in, with the facts that it tells.
struct SignedStep: Sendable {
  let call: DeliveryStep
  /// For facts by themselves in the order of the call.
  let facts: [Fact]
}
