/// Why a customer's state is what it is (R31): for each entitlement and each subscription group,
/// what was considered, what decided, and what would change it.
public struct Explanation: Hashable, Sendable {
  public var state: CustomerState
  /// Every entitlement of the catalog, and any other that is conferred, by id.
  public var entitlements: [EntitlementExplanation]
  /// Every group of the state, in its order.
  public var groups: [GroupExplanation]

  public init(
    state: CustomerState, entitlements: [EntitlementExplanation], groups: [GroupExplanation]
  ) {
    self.state = state
    self.entitlements = entitlements
    self.groups = groups
  }
}

public struct EntitlementExplanation: Hashable, Sendable {
  public var entitlementID: EntitlementID
  public var isConferred: Bool
  public var reasoning: Reasoning

  public init(entitlementID: EntitlementID, isConferred: Bool, reasoning: Reasoning) {
    self.entitlementID = entitlementID
    self.isConferred = isConferred
    self.reasoning = reasoning
  }
}

public struct GroupExplanation: Hashable, Sendable {
  public var groupID: SubscriptionGroupID
  public var status: DetailedStatus
  public var reasoning: Reasoning

  public init(groupID: SubscriptionGroupID, status: DetailedStatus, reasoning: Reasoning) {
    self.groupID = groupID
    self.status = status
    self.reasoning = reasoning
  }
}
