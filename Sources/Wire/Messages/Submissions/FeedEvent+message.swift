import CEntitleMessages
import EntitlementDomain

extension FeedEvent: MappedMessage {
  static let shape = MessageShape(entitle__v1__feed_event__init)

  /// False for one of a kind that only a newer server knows: lists leave it out.
  static func isKnown(_ message: Entitle__V1__FeedEvent) -> Bool {
    known(message.kind, of: FeedEventKind.self) != nil
  }

  init(reading message: Entitle__V1__FeedEvent) throws(MessageError) {
    guard let kind = Self.known(message.kind, of: FeedEventKind.self) else {
      throw Self.error(.unknownValue(field: "kind"))
    }
    self.init(
      kind: kind, notificationUUID: Self.identifier(message.notification_uuid),
      originalTransactionID: Self.optionalIdentifier(message.original_transaction_id),
      transactionID: Self.optionalIdentifier(message.transaction_id),
      deadline: message.has_deadline_ms_case.isSet ? Milliseconds(message.deadline_ms) : nil,
      refetchReason: Self.known(message.refetch_reason, of: RefetchReason.self),
      detail: Self.optionalText(message.detail))
  }

  func write(
    to message: inout Entitle__V1__FeedEvent, in arena: MessageArena
  ) throws(MessageError) {
    message.kind = Self.number(kind)
    message.notification_uuid = try Self.text(notificationUUID, "notification_uuid", in: arena)
    message.original_transaction_id = try Self.text(
      originalTransactionID, "original_transaction_id", in: arena)
    message.transaction_id = try Self.text(transactionID, "transaction_id", in: arena)
    if let deadline {
      message.has_deadline_ms_case = ENTITLE__V1__FEED_EVENT__HAS_DEADLINE_MS_DEADLINE_MS
      message.deadline_ms = deadline.rawValue
    }
    message.refetch_reason = Self.number(refetchReason)
    message.detail = try Self.text(detail, "detail", in: arena)
  }
}
