import CEntitleMessages
package import NIOCore

/// What became of each payload. What was accepted is committed.
public struct SubmitSignedTransactionsResponse: Hashable, WireMessage {
  /// One for each payload of the request, in its order.
  public var results: [SubmittedItemResult]
  /// The customers that the accepted payloads concern, each once, changed or not.
  public var customers: [SubmittedCustomer]

  public init(results: [SubmittedItemResult], customers: [SubmittedCustomer]) {
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

extension SubmitSignedTransactionsResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__submit_signed_transactions_response__init)

  init(reading message: Entitle__V1__SubmitSignedTransactionsResponse) throws(MessageError) {
    results = try Self.list(
      message.results, count: message.n_results, of: SubmittedItemResult.self)
    customers = try Self.list(
      message.customers, count: message.n_customers, of: SubmittedCustomer.self)
  }

  func write(
    to message: inout Entitle__V1__SubmitSignedTransactionsResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_results = results.count
    message.results = try Self.list(results, in: arena)
    message.n_customers = customers.count
    message.customers = try Self.list(customers, in: arena)
  }
}
