import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Every grant of an account, withdrawn ones included.
package struct ListGrantsResponse: Hashable, WireMessage {
  /// Oldest first.
  package var grants: [Grant]

  package init(grants: [Grant]) {
    self.grants = grants
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListGrantsResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_grants_response__init)

  init(reading message: Entitle__V1__ListGrantsResponse) throws(MessageError) {
    grants = try Self.list(message.grants, count: message.n_grants, of: Grant.self)
  }

  func write(
    to message: inout Entitle__V1__ListGrantsResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_grants = grants.count
    message.grants = try Self.list(grants, in: arena)
  }
}
