import CEntitleMessages
import EntitlementDomain
import Framing
import JSON

/// Converts a message from JSON to the binary encoding of protobuf.
struct MessageJSONReader {
  private let document: JSONDocument
  private let anyTypes: AnyTypes
  private var output: [UInt8] = []
  private var path: [PathPart] = []
  /// Nesting of messages.
  private var level = 0
  private var type: MessageType?

  private enum PathPart {
    case field(String)
    case element(Int)
  }

  init(_ document: JSONDocument, anyTypes: AnyTypes) {
    self.document = document
    self.anyTypes = anyTypes
  }

  /// - Throws: ``MessageJSONError``.
  mutating func wire(of type: MessageType) throws(MessageJSONError) -> [UInt8] {
    self.type = type
    try append(objectAt: 0, as: type)
    return output
  }

  /// Appends a message's fields in the order of their numbers.
  private mutating func append(
    objectAt node: Int, as type: MessageType
  ) throws(MessageJSONError) {
    guard document.nodes[node].kind == .object else { throw wrongType("an object") }
    level += 1
    defer { level -= 1 }
    guard level <= MessageLimits.nestingDepth else { throw error(.nestedTooDeep) }
    // Empty, whatever its type: a list of these is converted at the pace at which it is parsed.
    guard node + 1 < Int(document.nodes[node].next) else { return }
    let shape = MessageJSONShape.of(type)
    if shape.isAny {
      try append(anyAt: node)
    } else {
      try append(membersOf: node, shape)
    }
  }

  /// Appends the fields of an `Any` (https://protobuf.dev/programming-guides/json/#any): one member of the
  /// object is its type, and the others are those of the message inside. Without members it is empty.
  private mutating func append(anyAt node: Int) throws(MessageJSONError) {
    guard node + 1 < Int(document.nodes[node].next) else { return }
    guard let url = document.value(of: "@type", inObjectAt: node),
      document.nodes[url].kind == .string
    else { throw error(.unknownType) }
    let text = document.content(ofStringAt: url)
    guard let inner = anyTypes.type(at: String(decoding: text, as: UTF8.self)) else {
      throw error(.unknownType)
    }
    appendTag(AnyTypes.Field.typeURL, .length)
    output.appendVarint(UInt64(text.count))
    output.append(contentsOf: text)
    let beforeValue = output.count
    appendTag(AnyTypes.Field.value, .length)
    let start = output.count
    try append(membersOf: node, MessageJSONShape.of(inner), isAny: true)
    if output.count > start {
      output.insertLength(from: start)
    } else {
      // Empty, as the field's default.
      output.removeSubrange(beforeValue...)
    }
  }

  private mutating func append(
    membersOf node: Int, _ shape: MessageJSONShape, isAny: Bool = false
  ) throws(MessageJSONError) {
    for member in try members(ofObjectAt: node, shape, isAny: isAny) {
      let field = shape.fields[member.field]
      path.append(.field(field.jsonName))
      if field.isRepeated {
        try append(arrayAt: member.value, of: field)
      } else {
        try append(valueAt: member.value, of: field, isElement: false)
      }
      path.removeLast()
    }
  }

  /// The members that are not null, sorted by the indices of their fields.
  ///
  /// - Parameter isAny: Whether one of the members is the type of an `Any`, which is no field.
  private mutating func members(
    ofObjectAt node: Int, _ shape: MessageJSONShape, isAny: Bool
  ) throws(MessageJSONError) -> [(field: Int, value: Int)] {
    let end = Int(document.nodes[node].next)
    var members: [(field: Int, value: Int)] = []
    var name = node + 1
    while name < end {
      let text = document.text(ofStringAt: name)
      if let field = shape.indices[text] {
        members.append((field, name + 1))
      } else if !isAny || text != AnyTypes.typeMember {
        throw unknownField(text)
      }
      name = Int(document.nodes[name + 1].next)
    }
    members.sort { $0.field < $1.field }
    // The parser refuses equal names, but a field has two names.
    for (member, next) in zip(members, members.dropFirst()) where member.field == next.field {
      throw error(.duplicateField, at: shape.fields[member.field])
    }
    members.removeAll { document.nodes[$0.value].kind == .nullLiteral }
    if shape.oneofCount > 0 {
      var set = [Int?](repeating: nil, count: shape.oneofCount)
      for member in members {
        guard let oneof = shape.fields[member.field].oneof else { continue }
        if let other = set[oneof] {
          throw error(
            .conflicting(with: shape.fields[other].jsonName), at: shape.fields[member.field])
        }
        set[oneof] = member.field
      }
    }
    return members
  }

  private mutating func append(
    arrayAt node: Int, of field: MessageJSONField
  ) throws(MessageJSONError) {
    guard document.nodes[node].kind == .array else { throw wrongType("an array") }
    let end = Int(document.nodes[node].next)
    guard node + 1 < end else { return }
    var packedStart: Int?
    if field.isPacked {
      appendTag(field.number, .length)
      packedStart = output.count
    }
    var element = node + 1
    var index = 0
    while element < end {
      path.append(.element(index))
      if field.isPacked {
        output.appendScalar(try scalar(at: element, of: field), field.wireType)
      } else {
        try append(valueAt: element, of: field, isElement: true)
      }
      path.removeLast()
      element = Int(document.nodes[element].next)
      index += 1
    }
    if let packedStart { output.insertLength(from: packedStart) }
  }

  /// Appends a field with one value. A field without presence is omitted when it has the default
  /// value.
  private mutating func append(
    valueAt node: Int, of field: MessageJSONField, isElement: Bool
  ) throws(MessageJSONError) {
    let isOmitted = !isElement && !field.hasPresence
    guard field.wireType == .length else {
      let number = try scalar(at: node, of: field)
      guard number != 0 || !isOmitted else { return }
      appendTag(field.number, field.wireType)
      output.appendScalar(number, field.wireType)
      return
    }
    if let message = field.message {
      appendTag(field.number, .length)
      let start = output.count
      try append(objectAt: node, as: message)
      output.insertLength(from: start)
      return
    }
    guard document.nodes[node].kind == .string else {
      throw wrongType(field.type == PROTOBUF_C_TYPE_STRING ? "a string" : "a string of base64")
    }
    var content = document.content(ofStringAt: node)
    if field.type == PROTOBUF_C_TYPE_STRING {
      guard !content.contains(0) else { throw error(.nullInText) }
    } else {
      guard let bytes = [UInt8](base64: content) else { throw error(.invalidBase64) }
      content = bytes
    }
    guard !content.isEmpty || !isOmitted else { return }
    appendTag(field.number, .length)
    output.appendVarint(UInt64(content.count))
    output.append(contentsOf: content)
  }

  /// The bits of a number, boolean or enumeration in the binary encoding.
  private func scalar(
    at node: Int, of field: MessageJSONField
  ) throws(MessageJSONError) -> UInt64 {
    switch field.type {
    case PROTOBUF_C_TYPE_BOOL:
      switch document.nodes[node].kind {
      case .trueLiteral: return 1
      case .falseLiteral: return 0
      default: throw wrongType("a boolean")
      }
    case PROTOBUF_C_TYPE_ENUM: return try value(at: node, of: field.enumeration)
    case PROTOBUF_C_TYPE_INT32: return signed(try integer(at: node, as: Int32.self))
    case PROTOBUF_C_TYPE_SINT32:
      let number = try integer(at: node, as: Int32.self)
      return UInt64(UInt32(bitPattern: number << 1 ^ number >> 31))
    case PROTOBUF_C_TYPE_SFIXED32:
      return UInt64(UInt32(bitPattern: try integer(at: node, as: Int32.self)))
    case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32:
      return UInt64(try integer(at: node, as: UInt32.self))
    case PROTOBUF_C_TYPE_SINT64:
      let number = try integer(at: node, as: Int64.self)
      return UInt64(bitPattern: number << 1 ^ number >> 63)
    case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64:
      return try integer(at: node, as: UInt64.self)
    case PROTOBUF_C_TYPE_FLOAT:
      return UInt64(try floatingPoint(at: node, as: Float.self).bitPattern)
    case PROTOBUF_C_TYPE_DOUBLE: return try floatingPoint(at: node, as: Double.self).bitPattern
    default: return signed(try integer(at: node, as: Int64.self))
    }
  }

  private func signed(_ number: some FixedWidthInteger & SignedInteger) -> UInt64 {
    UInt64(bitPattern: Int64(number))
  }

  private func value(
    at node: Int, of enumeration: UnsafePointer<ProtobufCEnumDescriptor>?
  ) throws(MessageJSONError) -> UInt64 {
    guard document.nodes[node].kind == .string else {
      guard document.nodes[node].kind == .number else {
        throw wrongType("the name of a value, or a number")
      }
      return signed(try integer(at: node, as: Int32.self))
    }
    let name = document.text(ofStringAt: node)
    guard !name.utf8.contains(0),
      let value = protobuf_c_enum_descriptor_get_value_by_name(enumeration, name)
    else { throw error(.unknownValue) }
    return signed(value.pointee.value)
  }

  private func integer<Number: FixedWidthInteger>(
    at node: Int, as type: Number.Type
  ) throws(MessageJSONError) -> Number {
    let text = try numberText(at: node, "an integer")
    guard let decimal = JSONDecimal(text) else { throw error(.notAnInteger) }
    switch decimal.integer(as: type) {
    case .exactly(let number): return number
    case .fraction: throw error(.notAnInteger)
    case .outOfRange: throw error(.outOfRange)
    }
  }

  private func floatingPoint<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    at node: Int, as type: Number.Type
  ) throws(MessageJSONError) -> Number {
    let text = try numberText(at: node, "a number")
    if document.nodes[node].kind == .string {
      switch String(decoding: text, as: UTF8.self) {
      case "NaN": return .nan
      case "Infinity": return .infinity
      case "-Infinity": return -.infinity
      default: break
      }
    }
    guard JSONDecimal(text) != nil, let number = Number(String(decoding: text, as: UTF8.self))
    else { throw wrongType("a number") }
    guard number.isFinite else { throw error(.outOfRange) }
    return number
  }

  /// The text of a number, or of a string that may contain one.
  private func numberText(
    at node: Int, _ expected: String
  ) throws(MessageJSONError) -> ArraySlice<UInt8> {
    let value = document.nodes[node]
    switch value.kind {
    case .number: return document.bytes[Int(value.start)..<Int(value.end)]
    case .string: return document.content(ofStringAt: node)[...]
    default: throw wrongType("\(expected), or a string that contains one")
    }
  }

  private mutating func appendTag(_ number: UInt32, _ wireType: WireType) {
    output.appendVarint(UInt64(number) << 3 | UInt64(wireType.rawValue))
  }

  private func wrongType(_ expected: String) -> MessageJSONError {
    error(.wrongType(expected: expected))
  }

  private func unknownField(_ name: String) -> MessageJSONError {
    // A text that looks like a field name helps to find the error. Any other text may be a secret
    // value.
    let isName =
      name.utf8.count <= 64
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return error(.unknownField, at: path + [.field(isName ? name : "?")])
  }

  private func error(
    _ fault: MessageJSONError.Fault, at field: MessageJSONField
  ) -> MessageJSONError {
    error(fault, at: path + [.field(field.jsonName)])
  }

  private func error(_ fault: MessageJSONError.Fault) -> MessageJSONError {
    error(fault, at: path)
  }

  private func error(
    _ fault: MessageJSONError.Fault, at path: [PathPart]
  ) -> MessageJSONError {
    var text = ""
    for part in path {
      switch part {
      case .field(let name): text += text.isEmpty ? name : ".\(name)"
      case .element(let index): text += "[\(index)]"
      }
    }
    return MessageJSONError(fault, at: text, in: type?.name ?? "")
  }
}

extension [UInt8] {
  fileprivate mutating func appendVarint(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  fileprivate mutating func appendScalar(_ number: UInt64, _ wireType: WireType) {
    switch wireType {
    case .number, .length: appendVarint(number)
    case .fourBytes:
      for shift in stride(from: UInt64(0), to: 32, by: 8) {
        append(UInt8(truncatingIfNeeded: number >> shift))
      }
    case .eightBytes:
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
  }

  /// Inserts the length of the bytes after `start` at `start`. This moves the bytes once per level,
  /// and nesting is bounded.
  fileprivate mutating func insertLength(from start: Int) {
    var length: [UInt8] = []
    length.appendVarint(UInt64(count - start))
    insert(contentsOf: length, at: start)
  }
}
