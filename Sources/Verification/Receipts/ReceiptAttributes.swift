import EntitlementDomain

/// The attributes of a receipt or of one of its purchases, by type. Only positions are stored;
/// values are parsed on demand.
struct ReceiptAttributes {
  private let known: Set<Int64>
  private let repeatable: Int64?
  private var der: [UInt8] = []
  private var values: [Int64: DERElement] = [:]
  /// The values of the repeatable type, in order.
  private(set) var repeated: [DERElement] = []
  /// Attributes of unknown types, in order.
  private(set) var unknown: [ReceiptAttribute] = []

  /// - Parameters:
  ///   - known: the known types.
  ///   - repeatable: the type that may occur more than once.
  init(known: Set<Int64>, repeatable: Int64? = nil) {
    self.known = known
    self.repeatable = repeatable
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  mutating func read(_ set: DERElement, in der: [UInt8]) throws(Refusal) {
    self.der = der
    var reader = DERReader(der, inside: set)
    var count = 0
    while !reader.isAtEnd {
      let attribute = try reader.next(DERTag.sequence, "attribute")
      var fields = DERReader(der, inside: attribute)
      let type = try fields.integer("type of an attribute")
      let version = try fields.integer("version of an attribute")
      let value = try fields.next(DERTag.octetString, "value of an attribute")
      try fields.expectEnd(of: "attribute")
      if type == repeatable {
        repeated.append(value)
        continue
      }
      count += 1
      guard count <= VerificationLimits.receiptAttributes else {
        throw Refusal(
          .malformed, "more than \(VerificationLimits.receiptAttributes) attributes")
      }
      if !known.contains(type) {
        let bytes = Array(der[value.contents])
        unknown.append(ReceiptAttribute(type: type, version: version, value: bytes))
      } else if values.updateValue(value, forKey: type) != nil {
        throw Refusal(.malformed, "attribute \(type) occurs twice")
      }
    }
  }

  /// The value as received; empty if it is absent.
  func bytes(_ type: Int64) -> [UInt8] {
    values[type].map { Array(der[$0.contents]) } ?? []
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not text.
  func text(_ type: Int64, _ name: StaticString) throws(Refusal) -> String? {
    guard var reader = reader(type) else { return nil }
    let text = try reader.text(name)
    try reader.expectEnd(of: name)
    return text
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not an integer of 64 bits.
  func integer(_ type: Int64, _ name: StaticString) throws(Refusal) -> Int64? {
    guard var reader = reader(type) else { return nil }
    let value = try reader.integer(name)
    try reader.expectEnd(of: name)
    return value
  }

  /// An integer as a flag: 0 or 1; nil for any other value.
  ///
  /// - Throws: as ``integer(_:_:)``.
  func flag(_ type: Int64, _ name: StaticString) throws(Refusal) -> Bool? {
    switch try integer(type, name) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not an RFC 3339 date.
  func moment(_ type: Int64, _ name: StaticString) throws(Refusal) -> Milliseconds? {
    guard let text = try text(type, name) else { return nil }
    guard let moment = Milliseconds(rfc3339: text) else {
      throw Refusal(.malformed, "the \(name) is not a date")
    }
    return moment
  }

  /// Nil when the attribute is absent or its value is empty.
  private func reader(_ type: Int64) -> DERReader? {
    guard let value = values[type], !value.contents.isEmpty else { return nil }
    return DERReader(der, inside: value)
  }
}
