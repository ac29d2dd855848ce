package import EntitlementDomain

/// Why a customer's state is what it is, in JSON: the fields of
/// `entitle.v1.ExplainCustomerStateResponse`, by the same names; what is absent is left out.
package struct ExplanationDocument: Encodable {
  let state: StateDocument
  let entitlements: [Entitlement]
  let groups: [Group]

  struct Entitlement: Encodable {
    let entitlementId: String
    let conferred: Bool
    let reasoning: ReasoningDocument
  }

  struct Group: Encodable {
    let groupId: String
    let status: String
    let reasoning: ReasoningDocument
  }

  package init(_ explanation: Explanation) {
    state = StateDocument(explanation.state)
    entitlements = explanation.entitlements.map { entitlement in
      Entitlement(
        entitlementId: entitlement.entitlementID.rawValue, conferred: entitlement.isConferred,
        reasoning: ReasoningDocument(entitlement.reasoning))
    }
    groups = explanation.groups.map { group in
      Group(
        groupId: group.groupID.rawValue, status: wireName(group.status),
        reasoning: ReasoningDocument(group.reasoning))
    }
  }
}
