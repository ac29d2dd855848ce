import CEntitleMessages
package import EntitlementDomain
package import NIOCore

extension CatalogIssue: WireMessage, MappedMessage {
  static let shape = MessageShape(entitle__v1__catalog_issue__init)

  package static var messageType: MessageType { shape.type }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }

  init(reading message: Entitle__V1__CatalogIssue) {
    self.init(
      severity: message.error != 0 ? .error : .warning, line: Int(message.line),
      column: Int(message.column), field: Self.text(message.field),
      message: Self.text(message.message))
  }

  func write(
    to message: inout Entitle__V1__CatalogIssue, in arena: MessageArena
  ) throws(MessageError) {
    message.error = severity == .error ? 1 : 0
    message.line = Int32(clamping: line)
    message.column = Int32(clamping: column)
    message.field = try Self.text(field, "field", in: arena)
    message.message = try Self.text(self.message, "message", in: arena)
  }
}
