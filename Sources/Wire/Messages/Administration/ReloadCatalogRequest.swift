import CEntitleMessages
package import NIOCore

/// Has the server read its catalog file again.
package struct ReloadCatalogRequest: Hashable, WireMessage {
  /// Only says what would be.
  package var isDryRun: Bool

  package init(isDryRun: Bool = false) {
    self.isDryRun = isDryRun
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ReloadCatalogRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__reload_catalog_request__init)

  init(reading message: Entitle__V1__ReloadCatalogRequest) {
    isDryRun = message.dry_run != 0
  }

  func write(to message: inout Entitle__V1__ReloadCatalogRequest, in arena: MessageArena) {
    message.dry_run = isDryRun ? 1 : 0
  }
}
