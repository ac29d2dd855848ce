import EntitlementDomain

/// Something that is asked at one moment or several.
struct Question: Sendable {
  let scope: AppScope
  /// Nil: the first chain of the scenario.
  var selector: CustomerSelector?
  let moments: [Milliseconds]
  let state: Expectation?
  /// The rules that decided, by id of an entitlement or a group.
  let explanation: Expectation?
}
