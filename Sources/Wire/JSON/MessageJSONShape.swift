import CEntitleMessages
import Framing

/// The parts of a message's descriptor that JSON needs: names, and which fields have presence. Made
/// once for each message.
final class MessageJSONShape: Sendable {
  /// Sorted by number, as in the descriptor.
  let fields: [MessageJSONField]
  /// What a writer needs of each field to collect its values, without counting references.
  let traits: [Traits]
  /// The index of each field, by both spellings of its name.
  let indices: [String: Int]
  /// Number of oneofs with two members or more.
  let oneofCount: Int
  /// Whether the message is `google.protobuf.Any`, whose JSON is that of the message inside.
  let isAny: Bool

  struct Traits {
    /// Whether the encoding of one value has a length.
    let hasLength: Bool
    /// As ``MessageJSONField/oneof``.
    let oneof: Int?
  }

  private init(_ type: MessageType) {
    isAny = type.name == AnyTypes.name
    let message = type.descriptor.pointee
    let all = UnsafeBufferPointer(start: message.fields, count: Int(message.n_fields))
    // Members of a oneof share the offset of its case. deploy/generate-messages turns each
    // `optional` into a oneof with one member: it has presence, and excludes no other field.
    var members: [UInt32: Int] = [:]
    for field in all where field.isInOneof { members[field.quantifier_offset, default: 0] += 1 }
    let oneofs = members.filter { $0.value > 1 }.keys.sorted()
    oneofCount = oneofs.count
    fields = all.map { field in
      MessageJSONField(
        field, oneof: field.isInOneof ? oneofs.firstIndex(of: field.quantifier_offset) : nil)
    }
    traits = fields.map { Traits(hasLength: $0.wireType == .length, oneof: $0.oneof) }
    var indices: [String: Int] = [:]
    for (index, field) in fields.enumerated() {
      indices[field.name] = index
      indices[field.jsonName] = index
    }
    self.indices = indices
  }

  fileprivate static let shapes = MessageType.all.map { MessageJSONShape($0) }
  /// The index in ``shapes`` of each message of `Protos/`.
  fileprivate static let positions = Dictionary(
    uniqueKeysWithValues: MessageType.all.enumerated().map { ($1, $0) })

  static func of(_ type: MessageType) -> MessageJSONShape {
    positions[type].map { shapes[$0] } ?? MessageJSONShape(type)
  }
}

/// One field of a message.
///
/// `@unchecked Sendable` holds because descriptors are constants of the program.
final class MessageJSONField: @unchecked Sendable {
  let number: UInt32
  /// Name as in `Protos/`.
  let name: String
  /// Name in lowerCamelCase.
  let jsonName: String
  /// The name as it is written: `"jsonName":`.
  let quotedName: [UInt8]
  let type: ProtobufCType
  let wireType: WireType
  let isRepeated: Bool
  /// Repeated, and encoded with one length before all numbers.
  let isPacked: Bool
  /// Whether an absent field differs from one with the default value.
  let hasPresence: Bool
  /// Index of its oneof, among the oneofs with two members or more.
  let oneof: Int?
  /// Type of a message field.
  let message: MessageType?
  /// Index of the message's shape, if the message is of `Protos/`.
  private let messagePosition: Int?
  /// Descriptor of an enumeration field.
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
    // The descriptors of these fields refer to the descriptors of the message and the enumeration.
    message =
      field.type == PROTOBUF_C_TYPE_MESSAGE
      ? MessageType(
        descriptor: field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))
      : nil
    messagePosition = message.flatMap { MessageJSONShape.positions[$0] }
    enumeration =
      field.type == PROTOBUF_C_TYPE_ENUM
      ? field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self) : nil
  }

  /// Shape of a message field, without a search for the messages of `Protos/`.
  var messageShape: MessageJSONShape? {
    messagePosition.map { MessageJSONShape.shapes[$0] } ?? message.map(MessageJSONShape.of)
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

  /// Converts a name as protoc does: letters after underscores become upper case, underscores are
  /// removed.
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
