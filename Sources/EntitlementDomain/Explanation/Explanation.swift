/// Why a customer's state is what it is (R31): for each entitlement and each subscription group,
/// what was considered, what decided, and what would change it.
package struct Explanation: Hashable, Sendable {
  package var state: CustomerState
  /// Every entitlement of the catalog, and any other that is conferred, by id.
  package var entitlements: [EntitlementExplanation]
  /// Every group of the state, in its order.
  package var groups: [GroupExplanation]

  package init(
    state: CustomerState, entitlements: [EntitlementExplanation], groups: [GroupExplanation]
  ) {
    self.state = state
    self.entitlements = entitlements
    self.groups = groups
  }
}

package struct EntitlementExplanation: Hashable, Sendable {
  package var entitlementID: EntitlementID
  package var isConferred: Bool
  package var reasoning: Reasoning

  package init(entitlementID: EntitlementID, isConferred: Bool, reasoning: Reasoning) {
    self.entitlementID = entitlementID
    self.isConferred = isConferred
    self.reasoning = reasoning
  }
}

package struct GroupExplanation: Hashable, Sendable {
  package var groupID: SubscriptionGroupID
  package var status: DetailedStatus
  package var reasoning: Reasoning

  package init(groupID: SubscriptionGroupID, status: DetailedStatus, reasoning: Reasoning) {
    self.groupID = groupID
    self.status = status
    self.reasoning = reasoning
  }
}
