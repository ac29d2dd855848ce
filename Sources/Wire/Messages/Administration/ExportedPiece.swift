import CEntitleMessages
package import NIOCore

/// The next bytes of an exported document.
package struct ExportedPiece: Hashable, WireMessage {
  /// A part of the JSON text, cut anywhere; at most ``MessageLimits/exportedPieceLength`` bytes.
  package var json: [UInt8]

  package init(json: [UInt8]) {
    self.json = json
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ExportedPiece: MappedMessage {
  static let shape = MessageShape(entitle__v1__exported_piece__init)

  init(reading message: Entitle__V1__ExportedPiece) throws(MessageError) {
    json = try Self.bounded(message.json, "json", limit: MessageLimits.exportedPieceLength) ?? []
  }

  func write(
    to message: inout Entitle__V1__ExportedPiece, in arena: MessageArena
  ) throws(MessageError) {
    message.json = try Self.bytes(json, in: arena)
  }
}
