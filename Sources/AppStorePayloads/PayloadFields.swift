package import EntitlementDomain
package import JSON

/// Reads the members of one JSON object by Apple's field names.
///
/// A field that is absent or `null` is nil. A field of another JSON type than requested is an
/// error. Fields that are not requested are ignored (R10).
package struct PayloadFields: Sendable {
  package let document: JSONDocument
  let node: Int
  /// Whether dates may have a fraction of a millisecond, or be text (R4).
  private var hasXcodeDates = false

  private init(document: JSONDocument, node: Int, hasXcodeDates: Bool) {
    self.document = document
    self.node = node
    self.hasXcodeDates = hasXcodeDates
  }

  /// Parses a payload and reads its outermost object.
  ///
  /// - Parameters:
  ///   - json: at most `lengthLimit` bytes.
  ///   - lengthLimit: less than 2 GiB.
  /// - Throws: ``PayloadError`` when the payload is not JSON, or not an object.
  package init(
    json: [UInt8], lengthLimit: Int = JSONLimits.length
  ) throws(PayloadError) {
    do {
      document = try JSONDocument(json, lengthLimit: lengthLimit)
    } catch {
      throw PayloadError(error)
    }
    node = 0
    guard document.nodes[0].kind == .object else {
      throw PayloadError(.notAnObject, "the JSON is not an object")
    }
  }

  /// The same fields, with dates read as the payload's environment writes them (R4): Xcode and
  /// LocalTesting sign fractions of a millisecond and dates as text, the App Store never does. The
  /// payload alone decides, so that a stored one is always read alike.
  ///
  /// - Parameter name: the field with the environment.
  package func withDates(ofEnvironmentIn name: StaticString) -> PayloadFields {
    guard let index = find(name), document.nodes[index].kind == .string else { return self }
    var fields = self
    switch StoreEnvironment(rawValue: document.text(ofStringAt: index)) {
    case .xcode, .localTesting: fields.hasXcodeDates = true
    case .production, .sandbox, nil: fields.hasXcodeDates = false
    }
    return fields
  }

  /// The object as it was written.
  package var json: [UInt8] {
    Array(document.bytes[Int(document.nodes[node].start)..<Int(document.nodes[node].end)])
  }

  /// Whether a field is present and not `null`.
  package func contains(_ name: StaticString) -> Bool { find(name) != nil }

  /// Whether a field is present, also if it is `null`.
  package func containsName(_ name: StaticString) -> Bool {
    document.value(of: name, inObjectAt: node) != nil
  }

  /// A string.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``.
  package func text(_ name: StaticString) throws(PayloadError) -> String? {
    guard let index = try find(name, .string, "a string") else { return nil }
    return document.text(ofStringAt: index)
  }

  /// A string that identifies something. An empty string counts as absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``; ``PayloadError/Code/invalidText`` for a NUL
  ///   character, because C libraries would truncate the id there.
  package func identifier(_ name: StaticString) throws(PayloadError) -> String? {
    guard let index = try find(name, .string, "a string") else { return nil }
    guard !document.containsNUL(stringAt: index) else { throw containsNUL(name) }
    let text = document.text(ofStringAt: index)
    return text.isEmpty ? nil : text
  }

  /// - Throws: ``PayloadError/Code/missingField``, and the errors of ``identifier(_:)``.
  package func requiredIdentifier(_ name: StaticString) throws(PayloadError) -> String {
    guard let identifier = try identifier(name) else {
      throw PayloadError(.missingField, field: name, "is missing")
    }
    return identifier
  }

  /// The UTF-8 bytes of a string, for further parsing.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``.
  package func content(_ name: StaticString) throws(PayloadError) -> [UInt8]? {
    guard let index = try find(name, .string, "a string") else { return nil }
    return document.content(ofStringAt: index)
  }

  /// An integer, without rounding.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``; ``PayloadError/Code/notAnInteger`` for a number
  ///   with a fraction or an exponent, also if its value is whole;
  ///   ``PayloadError/Code/outOfRange``.
  package func integer(_ name: StaticString) throws(PayloadError) -> Int64? {
    guard let index = try find(name, .number, "a number") else { return nil }
    let number = document.nodes[index]
    var value: Int64 = 0
    var isNegative = false
    for byte in document.bytes[Int(number.start)..<Int(number.end)] {
      switch byte {
      case UInt8(ascii: "-"):
        isNegative = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = Int64(byte - UInt8(ascii: "0"))
        // Negative numbers are accumulated as negative: the minimum has no positive counterpart.
        let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflowedToo) = shifted.addingReportingOverflow(isNegative ? -digit : digit)
        guard !overflowed, !overflowedToo else {
          throw PayloadError(.outOfRange, field: name, "does not fit 64 bits")
        }
        value = sum
      default:
        throw PayloadError(.notAnInteger, field: name, "is not an integer")
      }
    }
    return value
  }

  /// The text of a number, as it was written.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``.
  package func number(_ name: StaticString) throws(PayloadError) -> String? {
    guard let index = try find(name, .number, "a number") else { return nil }
    let number = document.nodes[index]
    return String(
      decoding: document.bytes[Int(number.start)..<Int(number.end)], as: UTF8.self)
  }

  /// A date: integer milliseconds since the Unix epoch. If the environment signs fractions and text,
  /// a fraction is rounded down, and a text is read as ``Milliseconds/init(xcode:)`` reads it: see
  /// ``withDates(ofEnvironmentIn:)`` (R4).
  ///
  /// - Throws: the errors of ``integer(_:)``.
  package func moment(_ name: StaticString) throws(PayloadError) -> Milliseconds? {
    guard hasXcodeDates else { return try integer(name).map(Milliseconds.init(_:)) }
    guard let index = find(name) else { return nil }
    let number = document.nodes[index]
    if number.kind == .string,
      let moment = Milliseconds(xcode: document.content(ofStringAt: index).span)
    {
      return moment
    }
    guard number.kind == .number else {
      throw PayloadError(.wrongType, field: name, "is neither a number nor a date")
    }
    guard let value = JSONNumber.floor(document.bytes[Int(number.start)..<Int(number.end)]) else {
      throw PayloadError(.outOfRange, field: name, "does not fit 64 bits")
    }
    return Milliseconds(value)
  }

  /// - Throws: ``PayloadError/Code/missingField``, and the errors of ``integer(_:)``.
  package func requiredMoment(_ name: StaticString) throws(PayloadError) -> Milliseconds {
    guard let moment = try moment(name) else {
      throw PayloadError(.missingField, field: name, "is missing")
    }
    return moment
  }

  /// - Throws: ``PayloadError/Code/wrongType``.
  package func boolean(_ name: StaticString) throws(PayloadError) -> Bool? {
    guard let index = find(name) else { return nil }
    switch document.nodes[index].kind {
    case .trueLiteral: return true
    case .falseLiteral: return false
    default: throw PayloadError(.wrongType, field: name, "is not a boolean")
    }
  }

  /// - Throws: ``PayloadError/Code/wrongType``.
  package func object(_ name: StaticString) throws(PayloadError) -> PayloadFields? {
    guard let index = try find(name, .object, "an object") else { return nil }
    return PayloadFields(document: document, node: index, hasXcodeDates: hasXcodeDates)
  }

  /// All members that are objects.
  func objects() -> [PayloadFields] {
    let end = Int(document.nodes[node].next)
    var objects: [PayloadFields] = []
    var name = node + 1
    while name < end {
      let value = name + 1
      if document.nodes[value].kind == .object {
        objects.append(
          PayloadFields(document: document, node: value, hasXcodeDates: hasXcodeDates))
      }
      name = Int(document.nodes[value].next)
    }
    return objects
  }

  /// The strings of an array; nil when it is absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType`` for the array or an element;
  ///   ``PayloadError/Code/invalidText`` for a NUL character, as ``identifier(_:)``.
  package func texts(_ name: StaticString) throws(PayloadError) -> [String]? {
    guard let index = try find(name, .array, "an array") else { return nil }
    let end = Int(document.nodes[index].next)
    var texts: [String] = []
    var element = index + 1
    while element < end {
      guard document.nodes[element].kind == .string else {
        throw PayloadError(.wrongType, field: name, "contains an element that is not a string")
      }
      guard !document.containsNUL(stringAt: element) else { throw containsNUL(name) }
      texts.append(document.text(ofStringAt: element))
      element = Int(document.nodes[element].next)
    }
    return texts
  }

  /// The objects of an array; nil when it is absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType`` for the array or an element.
  package func objects(_ name: StaticString) throws(PayloadError) -> [PayloadFields]? {
    guard contains(name), let index = document.value(of: name, inObjectAt: node) else {
      return nil
    }
    guard document.nodes[index].kind == .array else {
      throw PayloadError(.wrongType, field: name, "is not an array")
    }
    let end = Int(document.nodes[index].next)
    var objects: [PayloadFields] = []
    var element = index + 1
    while element < end {
      guard document.nodes[element].kind == .object else {
        throw PayloadError(.wrongType, field: name, "contains an element that is not an object")
      }
      objects.append(
        PayloadFields(document: document, node: element, hasXcodeDates: hasXcodeDates))
      element = Int(document.nodes[element].next)
    }
    return objects
  }

  private func containsNUL(_ name: StaticString) -> PayloadError {
    PayloadError(.invalidText, field: name, "contains a NUL character")
  }

  /// The node index of a value that is present and not `null`.
  private func find(_ name: StaticString) -> Int? {
    guard let index = document.value(of: name, inObjectAt: node),
      document.nodes[index].kind != .nullLiteral
    else { return nil }
    return index
  }

  private func find(
    _ name: StaticString, _ kind: JSONNode.Kind, _ description: StaticString
  ) throws(PayloadError) -> Int? {
    guard let index = find(name) else { return nil }
    guard document.nodes[index].kind == kind else {
      throw PayloadError(.wrongType, field: name, "is not \(description)")
    }
    return index
  }
}
