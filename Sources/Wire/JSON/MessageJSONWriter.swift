import CEntitleMessages
import Framing
import Glibc

/// Converts a message from the binary encoding of protobuf to JSON.
struct MessageJSONWriter {
  private static let largestReservation = 1 << 16

  private let limit: Int
  private let anyTypes: AnyTypes
  /// Levels of messages in an `Any`.
  private var anyLevel = 0
  /// Whether an `Any` has a message of an unknown type, so that the output cannot be used.
  private var hasUnknownType = false
  private var output: [UInt8] = []
  /// The values of the message that is being written and of the messages that contain it, the
  /// outermost first.
  private var values: [Value] = []

  /// One value of one field, in the binary encoding.
  private struct Value {
    /// Index of the field in the shape.
    let field: Int
    /// Value of a field without a length; otherwise 0.
    let number: UInt64
    /// Content of a field with a length; otherwise empty.
    let content: UnsafeRawBufferPointer
    let isPacked: Bool
  }

  init(limit: Int, anyTypes: AnyTypes) {
    self.limit = limit
    self.anyTypes = anyTypes
  }

  /// - Throws: ``MessageJSONError``.
  mutating func json(
    of bytes: UnsafeRawBufferPointer, _ type: MessageType
  ) throws(MessageJSONError) -> [UInt8] {
    do {
      // The whole message is checked first, so that later errors need no path.
      try MessageMerger.withMerged(bytes, descriptor: type.descriptor) {
        bytes throws(MessageError) in
        // Most messages fit in, so that neither grows step by step.
        output.reserveCapacity(min(4 * bytes.count, limit, Self.largestReservation))
        values.reserveCapacity(64)
        try append(message: bytes, type, .of(type))
      }
    } catch {
      throw MessageJSONError(.message(error), at: "", in: type)
    }
    if hasUnknownType { throw MessageJSONError(.unknownType, at: "", in: type) }
    guard output.count <= limit else {
      throw MessageJSONError(.tooLong(limit: limit), at: "", in: type)
    }
    return output
  }

  private mutating func append(
    message bytes: UnsafeRawBufferPointer, _ type: MessageType, _ shape: MessageJSONShape
  ) throws(MessageError) {
    output.append(UInt8(ascii: "{"))
    if shape.isAny {
      try append(contentOfAny: bytes, type, shape)
    } else {
      try append(fields: bytes, type, shape, isFirst: true)
    }
    output.append(UInt8(ascii: "}"))
  }

  /// Appends the members of an `Any`: its type, and the fields of the message inside, which is checked here,
  /// as the outer message has it as bytes.
  private mutating func append(
    contentOfAny bytes: UnsafeRawBufferPointer, _ type: MessageType, _ shape: MessageJSONShape
  ) throws(MessageError) {
    let start = values.count
    try collect(bytes, type, shape)
    let fields = values[start...]
    values.removeSubrange(start...)
    let url = fields.last { shape.fields[$0.field].number == AnyTypes.Field.typeURL }?.content
    let value = fields.last { shape.fields[$0.field].number == AnyTypes.Field.value }?.content
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    guard let url, !url.isEmpty else {
      if let value, !value.isEmpty { hasUnknownType = true }
      return
    }
    guard let inner = anyTypes.type(at: String(decoding: url, as: UTF8.self)) else {
      hasUnknownType = true
      return
    }
    anyLevel += 1
    defer { anyLevel -= 1 }
    guard anyLevel <= MessageLimits.nestingDepth else {
      throw type.descriptor.error(.nestedTooDeep)
    }
    output.append(contentsOf: "\"\(AnyTypes.typeMember)\":".utf8)
    output.appendJSONString(url)
    try MessageMerger.withMerged(value ?? empty, descriptor: inner.descriptor) {
      bytes throws(MessageError) in
      try append(fields: bytes, inner, MessageJSONShape.of(inner), isFirst: false)
    }
  }

  /// Appends the fields of a message as members of an object.
  private mutating func append(
    fields bytes: UnsafeRawBufferPointer, _ type: MessageType, _ shape: MessageJSONShape,
    isFirst: Bool
  ) throws(MessageError) {
    let start = values.count
    try collect(bytes, type, shape)
    var isFirst = isFirst
    var index = start
    while index < values.count, output.count <= limit {
      var end = index + 1
      while end < values.count, values[end].field == values[index].field { end += 1 }
      let field = shape.fields[values[index].field]
      // For a field that is not repeated the last value counts.
      let range = field.isRepeated ? index..<end : end - 1..<end
      if !isOmitted(field, range) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        output.append(contentsOf: field.quotedName)
        if field.isRepeated {
          try append(list: range, of: field)
        } else {
          try append(values[range.lowerBound], of: field)
        }
      }
      index = end
    }
    values.removeSubrange(start...)
  }

  /// Collects the values of the known fields, in the order of the fields.
  private mutating func collect(
    _ bytes: UnsafeRawBufferPointer, _ type: MessageType, _ shape: MessageJSONShape
  ) throws(MessageError) {
    let start = values.count
    var isInOrder = true
    // The oneofs of which a member was read, a bit for each; above 64, several share a bit.
    var oneofs: UInt64 = 0
    var hasRepeatedOneof = false
    var cursor = ProtobufCursor(bytes, of: MessageSubject(type.descriptor))
    while let tag = try cursor.readTag() {
      guard
        let found = protobuf_c_message_descriptor_get_field(type.descriptor, tag.field)
      else {
        try cursor.skip(tag)
        continue
      }
      let index = found - type.descriptor.pointee.fields
      let traits = shape.traits[index]
      if tag.wireType == .length {
        let content = try cursor.readBytes(tag)
        values.append(
          Value(field: index, number: 0, content: content, isPacked: !traits.hasLength))
      } else {
        let number = try cursor.readScalar(tag.wireType)
        values.append(
          Value(
            field: index, number: number, content: UnsafeRawBufferPointer(start: nil, count: 0),
            isPacked: false))
      }
      if let oneof = traits.oneof {
        let bit: UInt64 = 1 << UInt64(oneof & 63)
        if oneofs & bit != 0 { hasRepeatedOneof = true }
        oneofs |= bit
      }
      if values.count > start + 1, values[values.count - 2].field > index { isInOrder = false }
    }
    if hasRepeatedOneof { removeFormerMembers(from: start, shape) }
    if !isInOrder { sort(from: start) }
  }

  /// Removes the values of oneofs but those of the member that was read last, which counts.
  private mutating func removeFormerMembers(from start: Int, _ shape: MessageJSONShape) {
    var members = [Int?](repeating: nil, count: shape.oneofCount)
    for value in values[start...] {
      if let oneof = shape.fields[value.field].oneof { members[oneof] = value.field }
    }
    let rest = values[start...].filter { value in
      guard let oneof = shape.fields[value.field].oneof else { return true }
      return members[oneof] == value.field
    }
    values.replaceSubrange(start..., with: rest)
  }

  /// Sorts by field; the values of one field keep their order.
  private mutating func sort(from start: Int) {
    let sorted = values[start...].enumerated().sorted {
      ($0.element.field, $0.offset) < ($1.element.field, $1.offset)
    }
    values.replaceSubrange(start..., with: sorted.map(\.element))
  }

  /// Whether a field is omitted: one without presence when it has the default value, a repeated one
  /// when it has no element.
  private func isOmitted(_ field: MessageJSONField, _ range: Range<Int>) -> Bool {
    if field.isRepeated {
      return range.allSatisfy { values[$0].isPacked && values[$0].content.isEmpty }
    }
    guard !field.hasPresence else { return false }
    let value = values[range.upperBound - 1]
    if field.wireType == .length { return value.content.isEmpty }
    switch field.type {
    case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_UINT32,
      PROTOBUF_C_TYPE_ENUM:
      return UInt32(truncatingIfNeeded: value.number) == 0
    default: return value.number == 0
    }
  }

  private mutating func append(
    list range: Range<Int>, of field: MessageJSONField
  ) throws(MessageError) {
    output.append(UInt8(ascii: "["))
    var isFirst = true
    for index in range {
      let value = values[index]
      guard value.isPacked else {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        try append(value, of: field)
        continue
      }
      // The subject only names the message in errors, which cannot occur here.
      var numbers = ProtobufCursor(value.content, of: "packed numbers" as StaticString)
      while !numbers.isAtEnd, output.count <= limit {
        // Never nil: the check has read the same numbers without an error.
        guard let number = try? numbers.readScalar(field.wireType) else { break }
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        append(number: number, of: field)
      }
    }
    output.append(UInt8(ascii: "]"))
  }

  private mutating func append(
    _ value: Value, of field: MessageJSONField
  ) throws(MessageError) {
    switch field.type {
    case PROTOBUF_C_TYPE_MESSAGE:
      // Never nil: a message field has its message.
      try append(message: value.content, field.message!, field.messageShape!)
    case PROTOBUF_C_TYPE_STRING:
      output.appendJSONString(value.content)
    case PROTOBUF_C_TYPE_BYTES:
      output.append(UInt8(ascii: "\""))
      output.appendBase64(value.content)
      output.append(UInt8(ascii: "\""))
    default:
      append(number: value.number, of: field)
    }
  }

  private mutating func append(number: UInt64, of field: MessageJSONField) {
    switch field.type {
    case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SFIXED32:
      append(Int32(truncatingIfNeeded: number))
    case PROTOBUF_C_TYPE_SINT32:
      append(Int32(truncatingIfNeeded: zigZag(UInt64(UInt32(truncatingIfNeeded: number)))))
    case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32:
      append(UInt32(truncatingIfNeeded: number))
    case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SFIXED64:
      append(quoted: Int64(bitPattern: number))
    case PROTOBUF_C_TYPE_SINT64: append(quoted: zigZag(number))
    case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64: append(quoted: number)
    case PROTOBUF_C_TYPE_BOOL: output.append(contentsOf: (number != 0 ? "true" : "false").utf8)
    case PROTOBUF_C_TYPE_ENUM: append(Int32(truncatingIfNeeded: number), of: field.enumeration)
    case PROTOBUF_C_TYPE_FLOAT:
      append(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
    case PROTOBUF_C_TYPE_DOUBLE: append(Double(bitPattern: number))
    // A type of a later libprotobuf-c.
    default: append(quoted: number)
    }
  }

  /// ZigZag encoding of signed numbers: 0, -1, 1, -2 are 0, 1, 2, 3.
  private func zigZag(_ number: UInt64) -> Int64 {
    Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  private mutating func append(
    _ number: Int32, of enumeration: UnsafePointer<ProtobufCEnumDescriptor>?
  ) {
    guard let value = protobuf_c_enum_descriptor_get_value(enumeration, number) else {
      append(number)
      return
    }
    let name = UnsafeRawBufferPointer(
      start: value.pointee.name, count: strlen(value.pointee.name))
    output.append(UInt8(ascii: "\""))
    output.append(contentsOf: name)
    output.append(UInt8(ascii: "\""))
  }

  private mutating func append<Number: BinaryFloatingPoint & CustomStringConvertible>(
    _ number: Number
  ) {
    if number.isFinite {
      output.append(contentsOf: number.description.utf8)
    } else {
      let name = number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
      output.append(contentsOf: "\"\(name)\"".utf8)
    }
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    output.appendDecimal(number)
  }

  private mutating func append(quoted number: some FixedWidthInteger) {
    output.append(UInt8(ascii: "\""))
    append(number)
    output.append(UInt8(ascii: "\""))
  }
}
