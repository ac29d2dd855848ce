import NIOCore

extension WireMessage {
  /// The message as JSON: ``MessageType/json(of:limit:)``.
  ///
  /// - Throws: ``MessageJSONError``.
  package func jsonEncoded() throws(MessageJSONError) -> [UInt8] {
    let wire: ByteBuffer
    do {
      wire = try encoded()
    } catch {
      throw MessageJSONError(.message(error), at: "", in: Self.messageType)
    }
    return try Self.messageType.json(of: wire)
  }

  /// Reads a message that is given as JSON: ``MessageType/wire(ofJSON:limit:)``.
  ///
  /// - Throws: ``MessageJSONError``; ``MessageJSONError/Fault/message(_:)`` for fields that are missing,
  ///   too long or the like.
  package static func decode(json: [UInt8]) throws(MessageJSONError) -> Self {
    let wire = try messageType.wire(ofJSON: json)
    do {
      return try decode(from: wire)
    } catch {
      throw MessageJSONError(.message(error), at: "", in: messageType)
    }
  }
}
