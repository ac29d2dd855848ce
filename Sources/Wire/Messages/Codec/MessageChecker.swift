import CEntitleMessages
import Glibc

/// Checks the bytes of a message before libprotobuf-c reads them.
///
/// libprotobuf-c does not look at UTF-8, ends a text at its first NUL, and says only that it could
/// not read a message, not why. And where a message field that is not repeated comes twice it
/// merges the two, which it cannot do when both lack the member of a `oneof`: no encoder writes
/// that, so it is always refused here rather than now and then there.
struct MessageChecker {
  /// Levels of messages inside messages, the outer one included.
  var nestingLimit = MessageLimits.nestingDepth

  /// - Throws: ``MessageError`` of code `malformed`, naming the innermost message.
  func check(
    _ bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) throws(MessageError) {
    try check(bytes, descriptor: descriptor, level: 1)
  }

  private func check(
    _ bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    level: Int
  ) throws(MessageError) {
    var cursor = ProtobufCursor(bytes, of: descriptor)
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
        if field.pointee.type == PROTOBUF_C_TYPE_MESSAGE,
          field.pointee.label != PROTOBUF_C_LABEL_REPEATED,
          !seenMessages.insert(tag.field)
        {
          throw descriptor.error(.duplicateMessage(field: field.name))
        }
      } else {
        guard tag.wireType == field.pointee.wireType else {
          throw descriptor.error(.wrongWireType(field: field.name))
        }
        try cursor.skip(tag)
      }
    }
  }

  /// Checks what a length came before.
  private func check(
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
      // The generated descriptor of a message field names the message's descriptor.
      let inner = field.pointee.descriptor.assumingMemoryBound(
        to: ProtobufCMessageDescriptor.self)
      try check(content, descriptor: inner, level: level + 1)
    case PROTOBUF_C_TYPE_BYTES:
      break
    default:
      // Numbers of a repeated field may come packed.
      guard field.pointee.label == PROTOBUF_C_LABEL_REPEATED else {
        throw descriptor.error(.wrongWireType(field: field.name))
      }
      var numbers = ProtobufCursor(content, of: descriptor)
      while !numbers.isAtEnd { _ = try numbers.readScalar(field.pointee.wireType) }
    }
  }
}

/// Numbers of fields that were seen.
private struct FieldSet {
  private var low: UInt64 = 0
  private var high: Set<UInt32> = []

  /// False when the number was there already.
  mutating func insert(_ field: UInt32) -> Bool {
    guard field < 64 else { return high.insert(field).inserted }
    let bit = UInt64(1) << UInt64(field)
    defer { low |= bit }
    return low & bit == 0
  }
}

extension UnsafePointer<ProtobufCFieldDescriptor> {
  fileprivate var name: String { String(cString: pointee.name) }
}
