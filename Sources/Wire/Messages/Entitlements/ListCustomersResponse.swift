import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// A page of customers, by account id.
public struct ListCustomersResponse: Hashable, WireMessage {
  public var customers: [CustomerState]
  /// Where the next page starts; nil when this is the last one.
  public var nextPageToken: String?

  public init(customers: [CustomerState], nextPageToken: String?) {
    self.customers = customers
    self.nextPageToken = nextPageToken
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListCustomersResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_customers_response__init)

  init(reading message: Entitle__V1__ListCustomersResponse) throws(MessageError) {
    customers = try Self.list(
      message.customers, count: message.n_customers, of: CustomerState.self)
    nextPageToken = Self.optionalText(message.next_page_token)
  }

  func write(
    to message: inout Entitle__V1__ListCustomersResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_customers = customers.count
    message.customers = try Self.list(customers, in: arena)
    message.next_page_token = try Self.text(nextPageToken, "next_page_token", in: arena)
  }
}
