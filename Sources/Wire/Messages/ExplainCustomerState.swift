import CEntitleMessages
public import EntitlementDomain

/// Response of `ExplainCustomerState`: why a customer has its state.
public struct ExplainCustomerStateResponse: Hashable, Sendable {
  /// The explanation, with the state.
  public var explanation: Explanation

  public init(explanation: Explanation) {
    self.explanation = explanation
  }
}

extension ExplainCustomerStateResponse {
  init(reading message: Entitle__V1__ExplainCustomerStateResponse) throws(MessageError) {
    explanation = Explanation(
      state: try Self.required(message.state, as: CustomerState.self, "state"),
      entitlements: try Self.list(
        message.entitlements, count: message.n_entitlements, of: EntitlementExplanation.self),
      groups: try Self.list(
        message.groups, count: message.n_groups, of: GroupExplanation.self),
      omitted: try Self.optional(message.omitted, as: ExplanationOmissions.self))
  }

  func write(
    to message: inout Entitle__V1__ExplainCustomerStateResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.state = try explanation.state.make(in: arena)
    message.n_entitlements = explanation.entitlements.count
    message.entitlements = try Self.list(explanation.entitlements, in: arena)
    message.n_groups = explanation.groups.count
    message.groups = try Self.list(explanation.groups, in: arena)
    if let omitted = explanation.omitted { message.omitted = try omitted.make(in: arena) }
  }
}
