import CEntitleMessages
import EntitlementDomain

extension GrandfatheringState: MappedMessage {
  static let shape = MessageShape(entitle__v1__grandfathering_state__init)

  init(reading message: Entitle__V1__GrandfatheringState) {
    // What a newer server may send and this program does not know is read as state.proto says.
    self.init(
      ruleID: Self.identifier(message.rule_id),
      outcome: Self.known(message.outcome, of: GrandfatheringOutcome.self) ?? .unknown,
      reason: Self.known(message.reason, of: GrandfatheringReason.self) ?? .noEvidence,
      isFlagged: message.flagged != 0,
      appTransactionID: Self.optionalIdentifier(message.app_transaction_id))
  }

  func write(
    to message: inout Entitle__V1__GrandfatheringState, in arena: MessageArena
  ) throws(MessageError) {
    message.rule_id = try Self.text(ruleID, "rule_id", in: arena)
    message.outcome = Self.number(outcome)
    message.reason = Self.number(reason)
    message.flagged = isFlagged ? 1 : 0
    message.app_transaction_id = try Self.text(
      appTransactionID, "app_transaction_id", in: arena)
  }
}
