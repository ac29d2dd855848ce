// Also declares libprotobuf-c, which the generated headers include. If CProtobufC were imported
// too, each declaration would belong to the module that the compiler loads first.
import CEntitleMessages
import NIOCore

/// A Swift value that is mapped to a generated C structure.
protocol MappedMessage: WireMessage {
  associatedtype CMessage

  static var shape: MessageShape<CMessage> { get }

  /// Reads a message that passed ``MessageChecker``: texts are UTF-8 and contain no NUL but the
  /// final one.
  init(reading message: CMessage) throws(MessageError)

  /// Sets the fields of an empty message.
  func write(to message: inout CMessage, in arena: MessageArena) throws(MessageError)

  /// False for a message of a kind that only a newer peer knows: lists leave such messages out.
  static func isKnown(_ message: CMessage) -> Bool
}

/// A Swift enumeration that is mapped to an enumeration of `Protos/`.
protocol MappedEnumeration: Sendable {
  associatedtype CNumber: RawRepresentable<UInt32>

  /// The value for an unknown number (`unknown_as` in `Protos/`); nil when there is none.
  static var unknownValue: Self? { get }

  /// Nil when the number is unspecified or unknown.
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
    try MessageMerger.withMerged(bytes, descriptor: shape.descriptor, unpacked)
  }

  /// Reads a message in which each message field that is not repeated occurs once.
  private static func unpacked(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> Self {
    let limit = MessageLimits.decodingArenaSize(messageSize: bytes.count)
    return try MessageArena.withThreadArena(limit: limit) { arena throws(MessageError) in
      // An empty buffer may have no address; libprotobuf-c then reads nothing.
      let unpacked = protobuf_c_message_unpack(
        shape.descriptor, arena.allocator, bytes.count,
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
      guard let unpacked else { throw error(arena.isExhausted ? .arenaExhausted : .unreadable) }
      // A generated structure begins with its ProtobufCMessage.
      let message = UnsafeRawPointer(unpacked).assumingMemoryBound(to: CMessage.self)
      return try Self(reading: message.pointee)
    }
  }

  func append(to buffer: inout ByteBuffer) throws(MessageError) {
    let limit = MessageLimits.encodingArenaSize
    try MessageArena.withThreadArena(limit: limit) { arena throws(MessageError) in
      let message = try make(in: arena)
      // A generated structure begins with its ProtobufCMessage.
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

/// The generated structure `CMessage` with its descriptor.
///
/// `@unchecked Sendable` holds because descriptors are constants of the program.
struct MessageShape<CMessage>: @unchecked Sendable {
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

  /// - Parameter initialize: the generated `…__init` of `CMessage`.
  init(_ initialize: (UnsafeMutablePointer<CMessage>?) -> Void) {
    let message = UnsafeMutablePointer<CMessage>.allocate(capacity: 1)
    defer { message.deallocate() }
    initialize(message)
    // Never nil: every generated structure begins with its ProtobufCMessage, and the generated
    // initialiser sets the descriptor.
    descriptor = UnsafeRawPointer(message).load(as: ProtobufCMessage.self).descriptor!
  }

  /// The type of the message, as a value.
  var type: MessageType { MessageType(descriptor: descriptor) }

  /// Full name, such as `entitle.v1.CustomerState`.
  var name: String { String(cString: descriptor.pointee.name) }

  /// Allocates an empty message.
  func make(in arena: MessageArena) throws(MessageError) -> UnsafeMutablePointer<CMessage> {
    guard let memory = arena.allocate(byteCount: MemoryLayout<CMessage>.stride) else {
      throw MessageError(.arenaExhausted, in: name)
    }
    protobuf_c_message_init(descriptor, memory)
    return memory.bindMemory(to: CMessage.self, capacity: 1)
  }
}
