// With the declarations of libprotobuf-c, which the generated headers include. With CProtobufC
// imported beside it, each would belong to whichever of the two the compiler meets first.
import CEntitleMessages
import NIOCore

/// A value that is carried by a generated structure: how to read it from one and to write it to
/// one.
protocol MappedMessage: WireMessage {
  associatedtype CMessage

  static var shape: MessageShape<CMessage> { get }

  /// Reads a message that passed ``MessageChecker``: texts are UTF-8 and end at their NUL.
  init(reading message: CMessage) throws(MessageError)

  /// Sets the fields of a message that has none set.
  func write(to message: inout CMessage, in arena: MessageArena) throws(MessageError)

  /// False for a message of a kind that only a newer peer knows: lists leave it out.
  static func isKnown(_ message: CMessage) -> Bool
}

/// An enumeration of `Protos/` as one of Swift.
protocol MappedEnumeration: Sendable {
  associatedtype CNumber: RawRepresentable<UInt32>

  /// What a number is read as that is not known (`unknown_as` in `Protos/`); nil where there is
  /// nothing to read it as.
  static var unknownValue: Self? { get }

  /// Nil when the number is unspecified or not known.
  init?(_ number: CNumber)

  var number: CNumber { get }
}

extension MappedEnumeration {
  static var unknownValue: Self? { nil }
}

extension MappedMessage {
  static func isKnown(_ message: CMessage) -> Bool { true }

  static func error(_ fault: MessageFault) -> MessageError {
    MessageError(fault, in: shape.name)
  }

  static func read(from buffer: ByteBuffer) throws(MessageError) -> Self {
    let outcome = buffer.withUnsafeReadableBytes { bytes in
      Result { () throws(MessageError) -> Self in try read(bytes) }
    }
    return try outcome.get()
  }

  private static func read(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> Self {
    try MessageChecker().check(bytes, descriptor: shape.descriptor)
    let limit = MessageLimits.decodingArenaSize(messageSize: bytes.count)
    return try MessageArena.withThreadArena(limit: limit) { arena throws(MessageError) in
      // An empty buffer may have no address; libprotobuf-c then reads nothing.
      let unpacked = protobuf_c_message_unpack(
        shape.descriptor, arena.allocator, bytes.count,
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
      guard let unpacked else { throw error(arena.isExhausted ? .arenaExhausted : .unreadable) }
      // A message is a ProtobufCMessage that its own fields follow.
      let message = UnsafeRawPointer(unpacked).assumingMemoryBound(to: CMessage.self)
      return try Self(reading: message.pointee)
    }
  }

  func append(to buffer: inout ByteBuffer) throws(MessageError) {
    let limit = MessageLimits.encodingArenaSize
    try MessageArena.withThreadArena(limit: limit) { arena throws(MessageError) in
      let message = try make(in: arena)
      // A message is a ProtobufCMessage that its own fields follow.
      let base = UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self)
      let size = protobuf_c_message_get_packed_size(base)
      buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
        guard size > 0, let start = bytes.baseAddress else { return 0 }
        return protobuf_c_message_pack(base, start.assumingMemoryBound(to: UInt8.self))
      }
    }
  }

  func make(in arena: MessageArena) throws(MessageError) -> UnsafeMutablePointer<CMessage> {
    let message = try Self.shape.make(in: arena)
    try write(to: &message.pointee, in: arena)
    return message
  }
}
