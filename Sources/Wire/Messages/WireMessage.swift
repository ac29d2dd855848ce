package import NIOCore

/// A message of `Protos/` as a Swift value. Any thread may encode and decode it.
package protocol WireMessage: Sendable {
  /// Its type in `Protos/`.
  static var messageType: MessageType { get }

  /// Reads the readable bytes of `buffer` as one message.
  ///
  /// - Throws: ``MessageError``; its code says whether the sender is at fault.
  static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self

  /// Appends the message, without a length prefix. The bytes depend on the value alone.
  ///
  /// - Throws: ``MessageError`` when a text contains a NUL or the message is far too large;
  ///   `buffer` is then unchanged.
  func encode(into buffer: inout ByteBuffer) throws(MessageError)
}

extension WireMessage {
  /// Encodes the message into a new buffer.
  ///
  /// - Throws: ``MessageError``, as ``encode(into:)`` does.
  package func encoded() throws(MessageError) -> ByteBuffer {
    var buffer = ByteBuffer()
    try encode(into: &buffer)
    return buffer
  }
}

extension WireMessage {
  /// Encodes the message as JSON: see ``MessageType/json(of:limit:)``.
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

  /// Decodes a message from JSON: see ``MessageType/wire(ofJSON:limit:values:anyTypes:)``.
  ///
  /// - Throws: ``MessageJSONError``; ``MessageJSONError/Fault/message(_:)`` for a field that is
  ///   missing, too long, or otherwise refused.
  package static func decode(json: [UInt8]) throws(MessageJSONError) -> Self {
    let wire = try messageType.wire(ofJSON: json)
    do {
      return try decode(from: wire)
    } catch {
      throw MessageJSONError(.message(error), at: "", in: messageType)
    }
  }
}

/// A method of a service, with the types of its request and response.
package struct WireMethod<Request: WireMessage, Response: WireMessage>: Sendable {
  /// Full name of the service, such as `entitle.v1.EntitlementService`.
  package let service: String
  package let name: String
  package let idempotency: Idempotency
  /// What a caller needs.
  package let permission: Permission
}

/// A method with the descriptors of its messages, for a front that translates them.
package struct MethodDescription: Sendable {
  package let service: String
  package let name: String
  package let idempotency: Idempotency
  package let request: MessageType
  package let response: MessageType
  package let isServerStreaming: Bool
  /// What an `Any` in its messages may contain.
  package let anyTypes: AnyTypes

  package init(
    service: String, name: String, idempotency: Idempotency, request: MessageType,
    response: MessageType, isServerStreaming: Bool, anyTypes: AnyTypes = .none
  ) {
    self.service = service
    self.name = name
    self.idempotency = idempotency
    self.request = request
    self.response = response
    self.isServerStreaming = isServerStreaming
    self.anyTypes = anyTypes
  }

  init<Request, Response>(_ method: WireMethod<Request, Response>, isServerStreaming: Bool) {
    self.init(
      service: method.service, name: method.name, idempotency: method.idempotency,
      request: Request.messageType, response: Response.messageType,
      isServerStreaming: isServerStreaming)
  }
}

/// The effect of repeating a call with the same request
/// (`google.protobuf.MethodOptions.IdempotencyLevel`).
package enum Idempotency: Hashable, Sendable {
  /// No call has an effect: a read.
  case noSideEffects
  /// The repeated call has no further effect.
  case idempotent
  /// Not specified.
  case unknown
}
