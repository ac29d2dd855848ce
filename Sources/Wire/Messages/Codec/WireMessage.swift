package import NIOCore

/// A message of `Protos/` as a Swift value. Any thread may code it.
package protocol WireMessage: Sendable {
  /// What `Protos/` say of it.
  static var messageType: MessageType { get }

  /// Reads the readable bytes of `buffer` as one message.
  ///
  /// - Throws: ``MessageError``, whose code tells whether the sender is at fault.
  static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self

  /// Appends the message, without any length before it. The bytes depend on the value alone.
  ///
  /// - Throws: ``MessageError`` when a text holds a NUL or the message is far too large; `buffer`
  ///   is then as it was.
  func encode(into buffer: inout ByteBuffer) throws(MessageError)
}

extension WireMessage {
  package func encoded() throws(MessageError) -> ByteBuffer {
    var buffer = ByteBuffer()
    try encode(into: &buffer)
    return buffer
  }
}
