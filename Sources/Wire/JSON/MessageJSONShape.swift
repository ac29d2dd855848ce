import CEntitleMessages

/// What JSON needs of a message's descriptor: names, and which fields have presence. Made once for each
/// message.
final class MessageJSONShape: Sendable {
  /// By number, as in the descriptor.
  let fields: [MessageJSONField]
  /// By both spellings of its name, the index of each field.
  let indices: [String: Int]
  /// Of two members or more.
  let oneofCount: Int

  private init(_ type: MessageType) {
    let message = type.descriptor.pointee
    let all = UnsafeBufferPointer(start: message.fields, count: Int(message.n_fields))
    // Members of a oneof share the place of its case. deploy/generate-messages makes each `optional` a
    // oneof with one member: it has presence, and excludes nothing.
    var members: [UInt32: Int] = [:]
    for field in all where field.isInOneof { members[field.quantifier_offset, default: 0] += 1 }
    let oneofs = members.filter { $0.value > 1 }.keys.sorted()
    oneofCount = oneofs.count
    fields = all.map { field in
      MessageJSONField(
        field, oneof: field.isInOneof ? oneofs.firstIndex(of: field.quantifier_offset) : nil)
    }
    var indices: [String: Int] = [:]
    for (index, field) in fields.enumerated() {
      indices[field.name] = index
      indices[field.jsonName] = index
    }
    self.indices = indices
  }

  private static let shapes = Dictionary(
    uniqueKeysWithValues: MessageType.all.map { ($0, MessageJSONShape($0)) })

  static func of(_ type: MessageType) -> MessageJSONShape {
    shapes[type] ?? MessageJSONShape(type)
  }
}

/// One field.
///
/// `@unchecked Sendable` holds because descriptors are constants of the program.
final class MessageJSONField: @unchecked Sendable {
  let number: UInt32
  /// As in `Protos/`.
  let name: String
  /// In lowerCamelCase.
  let jsonName: String
  /// `"jsonName":`.
  let quotedName: [UInt8]
  let type: ProtobufCType
  let wireType: WireType
  let isRepeated: Bool
  /// Repeated, and written with one length before all numbers.
  let isPacked: Bool
  /// Whether an absent field differs from one with the default value.
  let hasPresence: Bool
  /// Which of the message's oneofs of several members it belongs to.
  let oneof: Int?
  /// Of a message field.
  let message: MessageType?
  /// Of a field of an enumeration.
  let enumeration: UnsafePointer<ProtobufCEnumDescriptor>?

  init(_ field: ProtobufCFieldDescriptor, oneof: Int?) {
    number = field.id
    name = String(cString: field.name)
    jsonName = MessageJSONField.lowerCamelCase(name)
    quotedName = Array("\"\(jsonName)\":".utf8)
    type = field.type
    wireType = field.wireType
    isRepeated = field.label == PROTOBUF_C_LABEL_REPEATED
    isPacked = field.flags & PROTOBUF_C_FIELD_FLAG_PACKED.rawValue != 0
    hasPresence = field.isInOneof || field.type == PROTOBUF_C_TYPE_MESSAGE
    self.oneof = oneof
    // The descriptors of these fields name the message's and the enumeration's.
    message =
      field.type == PROTOBUF_C_TYPE_MESSAGE
      ? MessageType(
        descriptor: field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))
      : nil
    enumeration =
      field.type == PROTOBUF_C_TYPE_ENUM
      ? field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self) : nil
  }

  var kind: MessageField.Kind {
    switch type {
    case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES: return .text
    case PROTOBUF_C_TYPE_BOOL: return .boolean
    case PROTOBUF_C_TYPE_FLOAT, PROTOBUF_C_TYPE_DOUBLE: return .floatingPoint
    default: break
    }
    if let message { return .message(message) }
    guard let enumeration else { return .integer }
    let values = UnsafeBufferPointer(
      start: enumeration.pointee.values, count: Int(enumeration.pointee.n_values))
    return .enumeration(values.map { String(cString: $0.name) })
  }

  /// As protoc computes it: letters after underscores in upper case, underscores removed.
  static func lowerCamelCase(_ name: String) -> String {
    var result = ""
    var isUpper = false
    for character in name {
      if character == "_" {
        isUpper = true
      } else {
        result += isUpper ? character.uppercased() : String(character)
        isUpper = false
      }
    }
    return result
  }
}

extension ProtobufCFieldDescriptor {
  fileprivate var isInOneof: Bool { flags & PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue != 0 }
}
