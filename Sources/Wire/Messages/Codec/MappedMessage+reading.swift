import CEntitleMessages
import EntitlementDomain

// Reads fields of generated structures.
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

  /// A required text of a request.
  ///
  /// - Parameter limit: maximum length, in bytes.
  static func required(
    _ field: CText?, _ name: StaticString, limit: Int = .max
  ) throws(MessageError) -> String {
    guard let text = try bounded(field, name, limit: limit) else {
      throw error(.missing(field: name.description))
    }
    return text
  }

  static func required<Kind>(
    _ field: CText?, _ name: StaticString, limit: Int
  ) throws(MessageError) -> Identifier<Kind> {
    Identifier(try required(field, name, limit: limit))
  }

  /// An optional text of a request; nil when empty.
  ///
  /// - Parameter limit: maximum length, in bytes.
  static func bounded(
    _ field: CText?, _ name: StaticString, limit: Int
  ) throws(MessageError) -> String? {
    guard let text = optionalText(field) else { return nil }
    guard text.utf8.count <= limit else {
      throw error(.tooLong(field: name.description, limit: limit))
    }
    return text
  }

  static func bounded<Kind>(
    _ field: CText?, _ name: StaticString, limit: Int
  ) throws(MessageError) -> Identifier<Kind>? {
    try bounded(field, name, limit: limit).map(Identifier.init(_:))
  }

  /// An optional UUID of a request, in upper or lower case, converted to lower case; nil when
  /// empty.
  static func optionalUUID<Kind>(
    _ field: CText?, _ name: StaticString
  ) throws(MessageError) -> Identifier<Kind>? {
    guard let text = optionalText(field) else { return nil }
    guard isUUID(text) else { throw error(.notUUID(field: name.description)) }
    return Identifier(text.lowercased())
  }

  static func requiredUUID<Kind>(
    _ field: CText?, _ name: StaticString
  ) throws(MessageError) -> Identifier<Kind> {
    guard let identifier: Identifier<Kind> = try optionalUUID(field, name) else {
      throw error(.missing(field: name.description))
    }
    return identifier
  }

  static func lowercased<Kind>(_ identifier: Identifier<Kind>) -> Identifier<Kind> {
    Identifier(identifier.rawValue.lowercased())
  }

  /// Required bytes of a request.
  ///
  /// - Parameter limit: maximum number of bytes.
  static func required(
    _ field: ProtobufCBinaryData, _ name: StaticString, limit: Int
  ) throws(MessageError) -> [UInt8] {
    guard let bytes = try bounded(field, name, limit: limit) else {
      throw error(.missing(field: name.description))
    }
    return bytes
  }

  /// Optional bytes of a request; nil when there are none.
  ///
  /// - Parameter limit: maximum number of bytes.
  static func bounded(
    _ field: ProtobufCBinaryData, _ name: StaticString, limit: Int
  ) throws(MessageError) -> [UInt8]? {
    guard field.len > 0 else { return nil }
    guard field.len <= limit else {
      throw error(.tooLong(field: name.description, limit: limit))
    }
    return Array(UnsafeBufferPointer(start: field.data, count: field.len))
  }

  /// The page size of a request; a negative one is refused.
  static func pageSize(_ field: Int32, _ name: StaticString) throws(MessageError) -> Int {
    guard field >= 0 else { throw error(.outOfRange(field: name.description)) }
    return Int(field)
  }

  static func checkNotEmpty(_ count: Int, _ name: StaticString) throws(MessageError) {
    guard count > 0 else { throw error(.missing(field: name.description)) }
  }

  static func checkCount(
    _ count: Int, _ name: StaticString, limit: Int
  ) throws(MessageError) {
    guard count <= limit else { throw error(.tooMany(field: name.description, limit: limit)) }
  }

  /// Whether the text is 32 hexadecimal digits with hyphens as in RFC 9562, section 4.
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

  /// A required message.
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

  /// Whether the kind of a part is known. An absent part counts as known.
  static func isKnown<Part: MappedMessage>(
    _ field: UnsafeMutablePointer<Part.CMessage>?, as type: Part.Type
  ) -> Bool {
    field.map { Part.isKnown($0.pointee) } ?? true
  }

  /// - Parameter isKnown: false for parts that the list leaves out.
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

  /// The known values of an enumeration; unknown ones are left out.
  static func known<Value: MappedEnumeration>(
    _ field: UnsafeMutablePointer<Value.CNumber>?, count: Int, of type: Value.Type
  ) -> [Value] {
    UnsafeBufferPointer(start: field, count: field == nil ? 0 : count).compactMap(Value.init)
  }

  /// The values of an enumeration; an unknown one is refused.
  static func known<Value: MappedEnumeration>(
    _ field: UnsafeMutablePointer<Value.CNumber>?, count: Int, of type: Value.Type,
    _ name: StaticString
  ) throws(MessageError) -> [Value] {
    let values = known(field, count: count, of: type)
    guard values.count == count else { throw error(.unknownValue(field: name.description)) }
    return values
  }

  static func required<Value: MappedEnumeration>(
    _ field: Value.CNumber, as type: Value.Type, _ name: StaticString
  ) throws(MessageError) -> Value {
    guard let value = Value(field) ?? Value.unknownValue else {
      throw error(.unknownValue(field: name.description))
    }
    return value
  }

  /// Nil when the value is unspecified, or when it is unknown and
  /// ``MappedEnumeration/unknownValue`` is nil.
  static func optional<Value: MappedEnumeration>(
    _ field: Value.CNumber, as type: Value.Type
  ) -> Value? {
    field.rawValue == 0 ? nil : Value(field) ?? Value.unknownValue
  }

  /// The environment of a request in which unspecified means all environments instead of production.
  ///
  /// - Returns: nil for all.
  static func anyEnvironment(
    _ field: StoreEnvironment.CNumber
  ) throws(MessageError) -> StoreEnvironment? {
    if field.rawValue == 0 { return nil }
    guard let environment = StoreEnvironment(field) else {
      throw error(.unknownValue(field: "environment"))
    }
    return environment
  }

  /// The app and environment of a message, both required.
  static func scope(
    bundleID: CText?, environment: StoreEnvironment.CNumber
  ) throws(MessageError) -> AppScope {
    let environment = try required(environment, as: StoreEnvironment.self, "environment")
    return AppScope(
      bundleID: try required(bundleID, "bundle_id", limit: MessageLimits.identifierLength),
      environment: environment)
  }
}

extension RawRepresentable<UInt32> {
  /// For the case of a `oneof`: whether one of its fields is set. deploy/generate-messages turns
  /// every `optional` field into a `oneof` with that field alone.
  var isSet: Bool { rawValue != 0 }
}
