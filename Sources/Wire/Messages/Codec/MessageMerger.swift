import CEntitleMessages
import Framing

/// Joins the occurrences of a message field that is not repeated and occurs several times. Every
/// protobuf parser merges them (protobuf encoding, "Last One Wins"): of a scalar the last value
/// counts, messages are merged in turn, lists are joined, and of a `oneof` the last member counts.
/// To merge two messages is to read their encodings one after the other.
///
/// libprotobuf-c merges parsed messages instead, and differs: it refuses two messages without the
/// member of a `oneof`, keeps only the second of two messages in a `oneof`, and keeps the first
/// value where the second one is written and is the default.
enum MessageMerger {
  /// Checks a message as ``MessageChecker`` does, and calls `body` with an encoding of it in which
  /// each message field that is not repeated occurs once: usually with `bytes`.
  static func withMerged<Success>(
    _ bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    _ body: (UnsafeRawBufferPointer) throws(MessageError) -> Success
  ) throws(MessageError) -> Success {
    var checker = MessageChecker()
    try checker.check(bytes, descriptor: descriptor)
    guard checker.needsMerge else { return try body(bytes) }
    let outcome = try merged(bytes, descriptor: descriptor).withUnsafeBytes { bytes in
      Result { () throws(MessageError) -> Success in try body(bytes) }
    }
    return try outcome.get()
  }

  /// The message with each such field once, at the end. Any reader of protobuf then reads the same.
  ///
  /// - Parameter bytes: a message that passed ``MessageChecker``.
  /// - Throws: ``MessageError`` with the code `arenaExhausted` for a message above
  ///   ``MessageLimits/largestMergedMessage``.
  private static func merged(
    _ bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) throws(MessageError) -> [UInt8] {
    guard bytes.count <= MessageLimits.largestMergedMessage else {
      throw descriptor.error(.arenaExhausted)
    }
    var merged: [UInt8] = []
    merged.reserveCapacity(bytes.count)
    try append(bytes, descriptor, to: &merged)
    return merged
  }

  /// A message field, and the contents of its occurrences one after the other.
  private struct Joined {
    let field: UnsafePointer<ProtobufCFieldDescriptor>
    var content: [UInt8]
  }

  private static func append(
    _ bytes: UnsafeRawBufferPointer, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    to merged: inout [UInt8]
  ) throws(MessageError) {
    // A message has few message fields.
    var joined: [Joined] = []
    var cursor = ProtobufCursor(bytes, of: MessageSubject(descriptor))
    while true {
      let start = cursor.offset
      guard let tag = try cursor.readTag() else { break }
      let field = protobuf_c_message_descriptor_get_field(descriptor, tag.field)
      if let field, field.isInOneof {
        // The last member counts.
        joined.removeAll { $0.field != field && $0.field.isInOneof(of: field) }
      }
      guard let field, field.pointee.type == PROTOBUF_C_TYPE_MESSAGE else {
        try cursor.skip(tag)
        merged.append(contentsOf: bytes[start..<cursor.offset])
        continue
      }
      let content = try cursor.readBytes(tag)
      if !field.isSingleMessage {
        try append(field, content, to: &merged)
      } else if let index = joined.firstIndex(where: { $0.field == field }) {
        joined[index].content.append(contentsOf: content)
      } else {
        joined.append(Joined(field: field, content: Array(content)))
      }
    }
    for message in joined {
      let outcome = message.content.withUnsafeBytes { content in
        Result { () throws(MessageError) in try append(message.field, content, to: &merged) }
      }
      try outcome.get()
    }
  }

  /// Appends a message field.
  private static func append(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, _ content: UnsafeRawBufferPointer,
    to merged: inout [UInt8]
  ) throws(MessageError) {
    var message: [UInt8] = []
    try append(content, field.message, to: &message)
    appendVarint(UInt64(field.pointee.id) << 3 | UInt64(WireType.length.rawValue), to: &merged)
    appendVarint(UInt64(message.count), to: &merged)
    merged.append(contentsOf: message)
  }

  private static func appendVarint(_ number: UInt64, to merged: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      merged.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    merged.append(UInt8(truncatingIfNeeded: rest))
  }
}

extension UnsafePointer<ProtobufCFieldDescriptor> {
  fileprivate var isInOneof: Bool {
    pointee.flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0
  }

  /// Whether both are members of the same `oneof`: they share the number of the member that is set.
  fileprivate func isInOneof(of other: Self) -> Bool {
    isInOneof && other.isInOneof && pointee.quantifier_offset == other.pointee.quantifier_offset
  }
}
