import CEntitleMessages
import Framing
import Glibc

/// Checks the bytes of a message before libprotobuf-c reads them.
///
/// libprotobuf-c does not check UTF-8, ends a text at its first NUL, and gives no reason when it
/// cannot read a message. It also merges a message field that occurs twice in another way than
/// protobuf defines: see ``MessageMerger``.
struct MessageChecker {
  /// Levels of messages inside messages, the outer one included.
  var nestingLimit = MessageLimits.nestingDepth
  /// Whether a message field that is not repeated occurs twice, at any level.
  private(set) var needsMerge = false

  init(nestingLimit: Int = MessageLimits.nestingDepth) {
    self.nestingLimit = nestingLimit
  }

  /// - Throws: ``MessageError`` with the code `malformed`; it names the innermost message.
  mutating func check(
    _ bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) throws(MessageError) {
    try check(bytes, descriptor: descriptor, level: 1)
  }

  private mutating func check(
    _ bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    level: Int
  ) throws(MessageError) {
    var cursor = ProtobufCursor(bytes, of: MessageSubject(descriptor))
    guard level <= nestingLimit else { throw descriptor.error(.nestedTooDeep) }
    var seenMessages = FieldSet()
    while let tag = try cursor.readTag() {
      guard let field = protobuf_c_message_descriptor_get_field(descriptor, tag.field) else {
        try cursor.skip(tag)
        continue
      }
      if tag.wireType == .length {
        let content = try cursor.readBytes(tag)
        try check(content, of: field, in: descriptor, level: level)
        if field.isSingleMessage, !seenMessages.insert(tag.field) { needsMerge = true }
      } else {
        guard tag.wireType == field.pointee.wireType else {
          throw descriptor.error(.wrongWireType(field: field.name))
        }
        try cursor.skip(tag)
      }
    }
  }

  /// Checks the content of a field with a length.
  private mutating func check(
    _ content: UnsafeRawBufferPointer, of field: UnsafePointer<ProtobufCFieldDescriptor>,
    in descriptor: UnsafePointer<ProtobufCMessageDescriptor>, level: Int
  ) throws(MessageError) {
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_STRING:
      // An empty buffer may have no address.
      if let start = content.baseAddress, memchr(start, 0, content.count) != nil {
        throw descriptor.error(.nullInText(field: field.name))
      }
      guard content.isUTF8 else { throw descriptor.error(.invalidText(field: field.name)) }
    case PROTOBUF_C_TYPE_MESSAGE:
      try check(content, descriptor: field.message, level: level + 1)
    case PROTOBUF_C_TYPE_BYTES:
      break
    default:
      // The numbers of a repeated field may be packed.
      guard field.pointee.label == PROTOBUF_C_LABEL_REPEATED else {
        throw descriptor.error(.wrongWireType(field: field.name))
      }
      var numbers = ProtobufCursor(content, of: MessageSubject(descriptor))
      while !numbers.isAtEnd { _ = try numbers.readScalar(field.pointee.wireType) }
    }
  }
}

/// The numbers of the fields that have occurred.
private struct FieldSet {
  private var low: UInt64 = 0
  private var high: Set<UInt32> = []

  /// - Returns: false when the set already contains the number.
  mutating func insert(_ field: UInt32) -> Bool {
    guard field < 64 else { return high.insert(field).inserted }
    let bit = UInt64(1) << UInt64(field)
    defer { low |= bit }
    return low & bit == 0
  }
}

extension UnsafePointer<ProtobufCFieldDescriptor> {
  fileprivate var name: String { String(cString: pointee.name) }

  /// Whether the field is a message and not repeated.
  var isSingleMessage: Bool {
    pointee.type == PROTOBUF_C_TYPE_MESSAGE && pointee.label != PROTOBUF_C_LABEL_REPEATED
  }

  /// The type of a message field.
  var message: UnsafePointer<ProtobufCMessageDescriptor> {
    // The generated descriptor of a message field refers to the descriptor of the message.
    pointee.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
  }
}

extension ProtobufCFieldDescriptor {
  /// The wire type of one value.
  var wireType: WireType {
    switch type {
    case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_MESSAGE: .length
    case PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_DOUBLE: .eightBytes
    case PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_FLOAT: .fourBytes
    default: .number
    }
  }
}

/// The type of the message that a cursor reads, for its errors.
struct MessageSubject: CursorSubject {
  private let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

  init(_ descriptor: UnsafePointer<ProtobufCMessageDescriptor>) {
    self.descriptor = descriptor
  }

  func failure(_ fault: CursorFault) -> MessageError {
    let messageFault: MessageFault =
      switch fault {
      case .truncated: .truncated
      case .overlongNumber: .overlongNumber
      case .invalidFieldNumber: .invalidFieldNumber
      case .invalidWireType: .invalidWireType
      case .group: .group
      case .wrongWireType(let number):
        .wrongWireType(
          field: protobuf_c_message_descriptor_get_field(descriptor, number)
            .map { String(cString: $0.pointee.name) } ?? "\(number)")
      }
    return descriptor.error(messageFault)
  }
}

extension UnsafePointer<ProtobufCMessageDescriptor> {
  func error(_ fault: MessageFault) -> MessageError {
    MessageError(fault, in: String(cString: pointee.name))
  }
}
