import CEntitleMessages
package import NIOCore

/// What became of a receipt, or of an archived response to one. When it was accepted, it is
/// committed.
public struct SubmitReceiptResponse: Hashable, WireMessage {
  /// When it is not ``SubmissionVerdict/ok``, nothing was stored and only ``detail`` is set.
  public var verdict: SubmissionVerdict
  /// Why it was refused, in English; nil when it was not.
  public var detail: String?
  /// Nil when it was refused.
  public var receipt: ReceiptSummary?
  /// What became of what it says: of the app first, then of each in-app purchase in its order; of
  /// an archived response, the renewals last.
  public var results: [SubmittedItemResult]
  /// The customers that it concerns, each once, changed or not.
  public var customers: [SubmittedCustomer]

  public init(
    verdict: SubmissionVerdict, detail: String? = nil, receipt: ReceiptSummary? = nil,
    results: [SubmittedItemResult] = [], customers: [SubmittedCustomer] = []
  ) {
    self.verdict = verdict
    self.detail = detail
    self.receipt = receipt
    self.results = results
    self.customers = customers
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension SubmitReceiptResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__submit_receipt_response__init)

  init(reading message: Entitle__V1__SubmitReceiptResponse) throws(MessageError) {
    verdict = Self.known(message.verdict, of: SubmissionVerdict.self) ?? .unrecognized
    detail = Self.optionalText(message.detail)
    receipt = try Self.optional(message.receipt, as: ReceiptSummary.self)
    results = try Self.list(
      message.results, count: message.n_results, of: SubmittedItemResult.self)
    customers = try Self.list(
      message.customers, count: message.n_customers, of: SubmittedCustomer.self)
  }

  func write(
    to message: inout Entitle__V1__SubmitReceiptResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.verdict = Self.number(verdict)
    message.detail = try Self.text(detail, "detail", in: arena)
    if let receipt { message.receipt = try receipt.make(in: arena) }
    message.n_results = results.count
    message.results = try Self.list(results, in: arena)
    message.n_customers = customers.count
    message.customers = try Self.list(customers, in: arena)
  }
}
