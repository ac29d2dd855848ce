import CEntitleMessages
public import EntitlementDomain

/// What became of one signed payload.
public struct SubmittedItemResult: Hashable, Sendable {
  public var verdict: SubmissionVerdict
  /// Why it was refused, in English; nil when it was not.
  public var detail: String?
  /// Nil when it could not be read that far.
  public var kind: SubmittedKind?
  /// Nil when it was refused.
  public var disposition: SubmissionDisposition?
  /// The chain that it speaks of; nil for an app transaction, or when refused.
  public var originalTransactionID: OriginalTransactionID?
  /// Nil unless it is a transaction, or when refused.
  public var transactionID: TransactionID?
  /// Nil when it was refused.
  public var link: SubmissionLinkOutcome?

  public init(
    verdict: SubmissionVerdict, detail: String? = nil, kind: SubmittedKind? = nil,
    disposition: SubmissionDisposition? = nil,
    originalTransactionID: OriginalTransactionID? = nil, transactionID: TransactionID? = nil,
    link: SubmissionLinkOutcome? = nil
  ) {
    self.verdict = verdict
    self.detail = detail
    self.kind = kind
    self.disposition = disposition
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.link = link
  }
}

extension SubmittedItemResult: MappedMessage {
  static let shape = MessageShape(entitle__v1__item_result__init)

  init(reading message: Entitle__V1__ItemResult) {
    verdict = Self.known(message.verdict, of: SubmissionVerdict.self) ?? .unrecognized
    detail = Self.optionalText(message.detail)
    kind = Self.known(message.kind, of: SubmittedKind.self)
    disposition = Self.known(message.disposition, of: SubmissionDisposition.self)
    originalTransactionID = Self.optionalIdentifier(message.original_transaction_id)
    transactionID = Self.optionalIdentifier(message.transaction_id)
    if message.link != ENTITLE__V1__LINK_OUTCOME__LINK_OUTCOME_UNSPECIFIED {
      link = Self.known(message.link, of: SubmissionLinkOutcome.self) ?? .unchanged
    }
  }

  func write(
    to message: inout Entitle__V1__ItemResult, in arena: MessageArena
  ) throws(MessageError) {
    message.verdict = Self.number(verdict)
    message.detail = try Self.text(detail, "detail", in: arena)
    message.kind = Self.number(kind)
    message.disposition = Self.number(disposition)
    message.original_transaction_id = try Self.text(
      originalTransactionID, "original_transaction_id", in: arena)
    message.transaction_id = try Self.text(transactionID, "transaction_id", in: arena)
    message.link = Self.number(link)
  }
}
