/// The members of one JSON object, read by Apple's field names.
///
/// A field that is absent, or `null`, is nil; one with another JSON type than was asked for is an
/// error. Fields that nobody asks for are never looked at (R10).
package struct PayloadFields: Sendable {
  let document: JSONDocument
  let node: Int

  /// Whether a field is present and not `null`.
  package func contains(_ name: StaticString) -> Bool { find(name) != nil }

  /// Whether a name occurs, whatever its value.
  package func containsName(_ name: StaticString) -> Bool {
    document.value(of: name, inObjectAt: node) != nil
  }

  /// - Throws: ``PayloadError/Code/wrongType``.
  package func text(_ name: StaticString) throws(PayloadError) -> String? {
    guard let index = try find(name, .string, "a string") else { return nil }
    return document.text(ofStringAt: index)
  }

  /// Text that names something: empty counts as absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``; ``PayloadError/Code/invalidText`` for a NUL, at
  ///   which the C libraries that handle ids would cut them short.
  package func identifier(_ name: StaticString) throws(PayloadError) -> String? {
    guard let index = try find(name, .string, "a string") else { return nil }
    guard !document.holdsNUL(stringAt: index) else { throw holdsNUL(name) }
    let text = document.text(ofStringAt: index)
    return text.isEmpty ? nil : text
  }

  /// - Throws: ``PayloadError/Code/missingField`` beside those of ``identifier(_:)``.
  package func requiredIdentifier(_ name: StaticString) throws(PayloadError) -> String {
    guard let identifier = try identifier(name) else {
      throw PayloadError(.missingField, field: name, "is missing")
    }
    return identifier
  }

  /// The bytes of a string, for those that are parsed further.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``.
  package func content(_ name: StaticString) throws(PayloadError) -> [UInt8]? {
    guard let index = try find(name, .string, "a string") else { return nil }
    return document.content(ofStringAt: index)
  }

  /// An integer, exactly.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``, ``PayloadError/Code/notAnInteger`` for a fraction
  ///   or an exponent even of a whole number, ``PayloadError/Code/outOfRange``.
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
        // Towards the sign's own end: the least integer has no positive counterpart.
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

  /// A date: integer milliseconds since the Unix epoch (R4).
  ///
  /// - Throws: as ``integer(_:)``.
  package func moment(_ name: StaticString) throws(PayloadError) -> Milliseconds? {
    try integer(name).map(Milliseconds.init(_:))
  }

  /// - Throws: ``PayloadError/Code/missingField`` beside those of ``integer(_:)``.
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
    return PayloadFields(document: document, node: index)
  }

  /// The members that are objects, whatever their names.
  func objects() -> [PayloadFields] {
    let end = Int(document.nodes[node].next)
    var objects: [PayloadFields] = []
    var name = node + 1
    while name < end {
      let value = name + 1
      if document.nodes[value].kind == .object {
        objects.append(PayloadFields(document: document, node: value))
      }
      name = Int(document.nodes[value].next)
    }
    return objects
  }

  /// The strings of an array; nil when it is absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``, also for an element;
  ///   ``PayloadError/Code/invalidText`` for a NUL, as ``identifier(_:)``.
  package func texts(_ name: StaticString) throws(PayloadError) -> [String]? {
    guard let index = try find(name, .array, "an array") else { return nil }
    let end = Int(document.nodes[index].next)
    var texts: [String] = []
    var element = index + 1
    while element < end {
      guard document.nodes[element].kind == .string else {
        throw PayloadError(.wrongType, field: name, "holds something else than strings")
      }
      guard !document.holdsNUL(stringAt: element) else { throw holdsNUL(name) }
      texts.append(document.text(ofStringAt: element))
      element = Int(document.nodes[element].next)
    }
    return texts
  }

  /// The objects of an array; nil when it is absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``, also for an element.
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
        throw PayloadError(.wrongType, field: name, "holds something else than objects")
      }
      objects.append(PayloadFields(document: document, node: element))
      element = Int(document.nodes[element].next)
    }
    return objects
  }

  private func holdsNUL(_ name: StaticString) -> PayloadError {
    PayloadError(.invalidText, field: name, "holds a NUL character")
  }

  /// The index of a value that is present and not `null`.
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
