import CEntitleMessages
package import NIOCore

/// Asks which catalog is in force.
package struct GetCatalogRequest: Hashable, WireMessage {
  package init() {}

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetCatalogRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_catalog_request__init)

  init(reading message: Entitle__V1__GetCatalogRequest) {}

  func write(to message: inout Entitle__V1__GetCatalogRequest, in arena: MessageArena) {}
}
