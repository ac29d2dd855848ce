import CEntitleMessages

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
    // Every generated structure starts with its ProtobufCMessage, and the generated initialiser
    // sets its descriptor.
    descriptor = UnsafeRawPointer(message).load(as: ProtobufCMessage.self).descriptor!
  }

  /// The type of the message, known at run time.
  var type: MessageType { MessageType(descriptor: descriptor) }

  /// Full name, such as `entitle.v1.CustomerState`.
  var name: String { String(cString: descriptor.pointee.name) }

  /// A message without any field set.
  func make(in arena: MessageArena) throws(MessageError) -> UnsafeMutablePointer<CMessage> {
    guard let memory = arena.allocate(byteCount: MemoryLayout<CMessage>.stride) else {
      throw MessageError(.arenaExhausted, in: name)
    }
    protobuf_c_message_init(descriptor, memory)
    return memory.bindMemory(to: CMessage.self, capacity: 1)
  }
}
