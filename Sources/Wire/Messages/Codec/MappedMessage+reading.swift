import CEntitleMessages
import EntitlementDomain

// Reading fields of generated structures.
extension MappedMessage {
  typealias CText = UnsafeMutablePointer<CChar>

  /// Empty when the field is absent.
  static func text(_ field: CText?) -> String {
    field.map { String(cString: $0) } ?? ""
  }

  /// Nil when the field is absent or empty.
  static func optionalText(_ field: CText?) -> String? {
    guard let field, field.pointee != 0 else { return nil }
    return String(cString: field)
  }

  static func identifier<Kind>(_ field: CText?) -> Identifier<Kind> {
    Identifier(text(field))
  }

  static func optionalIdentifier<Kind>(_ field: CText?) -> Identifier<Kind>? {
    optionalText(field).map(Identifier.init(_:))
  }

  /// An identifier that a caller must send.
  static func required<Kind>(
    _ field: CText?, _ name: StaticString
  ) throws(MessageError) -> Identifier<Kind> {
    guard let identifier: Identifier<Kind> = try bounded(field, name) else {
      throw error(.missing(field: name.description))
    }
    return identifier
  }

  /// An identifier that a caller may send; nil when empty.
  static func bounded<Kind>(
    _ field: CText?, _ name: StaticString
  ) throws(MessageError) -> Identifier<Kind>? {
    try bounded(field, name, limit: MessageLimits.identifierLength).map(Identifier.init(_:))
  }

  /// A text that a caller must send, of at most `limit` bytes.
  static func required(
    _ field: CText?, _ name: StaticString, limit: Int
  ) throws(MessageError) -> String {
    guard let text = try bounded(field, name, limit: limit) else {
      throw error(.missing(field: name.description))
    }
    return text
  }

  /// A text that a caller may send, of at most `limit` bytes; nil when empty.
  static func bounded(
    _ field: CText?, _ name: StaticString, limit: Int
  ) throws(MessageError) -> String? {
    guard let text = optionalText(field) else { return nil }
    guard text.utf8.count <= limit else {
      throw error(.tooLong(field: name.description, limit: limit))
    }
    return text
  }

  /// A UUID that a caller may send, in any case, as one in lower case; nil when empty.
  static func boundedUUID<Kind>(
    _ field: CText?, _ name: StaticString
  ) throws(MessageError) -> Identifier<Kind>? {
    guard let text = optionalText(field) else { return nil }
    guard isUUID(text) else { throw error(.notUUID(field: name.description)) }
    return Identifier(text.lowercased())
  }

  /// Bytes that a caller must send, at most `limit` of them.
  static func required(
    _ field: ProtobufCBinaryData, _ name: StaticString, limit: Int
  ) throws(MessageError) -> [UInt8] {
    guard let bytes = try bounded(field, name, limit: limit) else {
      throw error(.missing(field: name.description))
    }
    return bytes
  }

  /// Bytes that a caller may send, at most `limit` of them; nil when there are none.
  static func bounded(
    _ field: ProtobufCBinaryData, _ name: StaticString, limit: Int
  ) throws(MessageError) -> [UInt8]? {
    guard field.len > 0 else { return nil }
    guard field.len <= limit else {
      throw error(.tooLong(field: name.description, limit: limit))
    }
    return Array(UnsafeBufferPointer(start: field.data, count: field.len))
  }

  /// Whether it is 32 hexadecimal digits with hyphens where RFC 9562, section 4, has them.
  private static func isUUID(_ text: String) -> Bool {
    guard text.utf8.count == 36 else { return false }
    return text.utf8.enumerated().allSatisfy { offset, byte in
      switch offset {
      case 8, 13, 18, 23: byte == UInt8(ascii: "-")
      default:
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
          UInt8(ascii: "A")...UInt8(ascii: "F"):
          true
        default: false
        }
      }
    }
  }

  /// A message that the sender must set.
  static func required<Part: MappedMessage>(
    _ field: UnsafeMutablePointer<Part.CMessage>?, as type: Part.Type, _ name: StaticString
  ) throws(MessageError) -> Part {
    guard let field else { throw error(.missing(field: name.description)) }
    return try Part(reading: field.pointee)
  }

  static func optional<Part: MappedMessage>(
    _ field: UnsafeMutablePointer<Part.CMessage>?, as type: Part.Type
  ) throws(MessageError) -> Part? {
    guard let field else { return nil }
    return try Part(reading: field.pointee)
  }

  /// - Parameter isKnown: false for parts to leave out, of a kind that only a newer peer knows.
  static func list<Part: MappedMessage>(
    _ field: UnsafeMutablePointer<UnsafeMutablePointer<Part.CMessage>?>?, count: Int,
    of type: Part.Type, where isKnown: (Part.CMessage) -> Bool = { _ in true }
  ) throws(MessageError) -> [Part] {
    var parts: [Part] = []
    parts.reserveCapacity(count)
    for case let part? in UnsafeBufferPointer(start: field, count: field == nil ? 0 : count)
    where isKnown(part.pointee) {
      parts.append(try Part(reading: part.pointee))
    }
    return parts
  }

  static func texts(_ field: UnsafeMutablePointer<CText?>?, count: Int) -> [String] {
    UnsafeBufferPointer(start: field, count: field == nil ? 0 : count).map(text)
  }

  /// The values of an enumeration that are known; others are left out.
  static func known<Value: RawRepresentable<Int>, CEnum: RawRepresentable<UInt32>>(
    _ field: UnsafeMutablePointer<CEnum>?, count: Int, of type: Value.Type
  ) -> [Value] {
    UnsafeBufferPointer(start: field, count: field == nil ? 0 : count).compactMap {
      Value(rawValue: Int($0.rawValue))
    }
  }

  /// Nil when the value is unspecified or not known.
  static func known<Value: RawRepresentable<Int>>(
    _ field: some RawRepresentable<UInt32>, of type: Value.Type
  ) -> Value? {
    Value(rawValue: Int(field.rawValue))
  }
}

extension RawRepresentable<UInt32> {
  /// For the case of a `oneof`: whether one of its fields is there. deploy/generate-messages makes
  /// every `optional` field a `oneof` with that field alone.
  var isSet: Bool { rawValue != 0 }
}
