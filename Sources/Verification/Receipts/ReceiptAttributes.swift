import EntitlementDomain

/// The attributes of a receipt or of one of its purchases, by type. Only positions are stored;
/// values are parsed on demand. It serves one set of attributes after the other, so that a receipt
/// with many purchases needs no memory for each of them, and purchases share equal texts.
struct ReceiptAttributes {
  private let known: KnownAttributes
  private let repeatable: Int64?
  private let der: [UInt8]
  /// Reads the attributes and their values.
  private var reader: DERReader
  /// The contents of the value of each known type, by ``KnownAttributes/index(of:)``.
  private var values: [Range<Int>]
  /// A bit for each of ``values`` that is present.
  private var present: UInt64 = 0
  /// The contents of the values of the repeatable type, in order.
  private(set) var repeated: [Range<Int>] = []
  /// Whether dates are read as StoreKit Testing in Xcode writes them (R4).
  var hasXcodeDates = false
  /// Whether attributes of unknown types are kept.
  private let keepsUnknown: Bool
  /// Attributes of unknown types, in order.
  private var unknownPositions: [(type: Int64, version: Int64, value: Range<Int>)] = []
  /// The repeated text that was last read of each known type, and the value with it.
  private var texts: [(value: Range<Int>, text: String?)]

  /// - Parameters:
  ///   - der: the bytes of the receipt.
  ///   - known: the known types.
  ///   - repeatable: the type that may occur more than once.
  ///   - keepsUnknown: whether ``unknown`` will be asked for.
  init(
    in der: [UInt8], known: KnownAttributes, repeatable: Int64? = nil, keepsUnknown: Bool = true
  ) {
    self.der = der
    self.known = known
    self.repeatable = repeatable
    self.keepsUnknown = keepsUnknown
    reader = DERReader(der)
    values = Array(repeating: 0..<0, count: KnownAttributes.width)
    // An empty value counts as absent.
    texts = Array(repeating: (0..<0, nil), count: KnownAttributes.width)
  }

  /// Reads a set of attributes, in place of the one before.
  ///
  /// - Parameters:
  ///   - contents: exactly one SET.
  ///   - set: its name, for messages.
  ///   - container: the name of what ends with it, for messages.
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  mutating func read(
    _ contents: Range<Int>, _ set: StaticString, of container: StaticString
  ) throws(Refusal) {
    reader.enter(contents)
    let attributes = try reader.next(DERTag.set, set).contents
    try reader.expectEnd(of: container)
    repeated.removeAll(keepingCapacity: true)
    unknownPositions.removeAll(keepingCapacity: true)
    // Copies of what each attribute needs, which stay in registers.
    var reader = reader
    let known = known
    var present: UInt64 = 0
    var count = 0
    reader.enter(attributes)
    while !reader.isAtEnd {
      let type, version: Int64
      let value: Range<Int>
      if let usual = reader.usualAttribute() {
        (type, version, value) = usual
      } else {
        (type, version, value) = try Self.attribute(&reader, in: attributes)
      }
      if type == repeatable {
        repeated.append(value)
        continue
      }
      count &+= 1
      guard count <= VerificationLimits.receiptAttributes else { throw Self.tooMany }
      guard let index = known.index(of: type) else {
        if keepsUnknown { unknownPositions.append((type, version, value)) }
        continue
      }
      guard present & 1 &<< index == 0 else { throw Self.duplicate(type) }
      present |= 1 &<< index
      values[index] = value
    }
    self.present = present
  }

  private static var tooMany: Refusal {
    Refusal(.malformed, "more than \(VerificationLimits.receiptAttributes) attributes")
  }

  private static func duplicate(_ type: Int64) -> Refusal {
    Refusal(.malformed, "attribute \(type) occurs twice")
  }

  /// Reads one attribute.
  ///
  /// - Parameter attributes: where the reader continues.
  private static func attribute(
    _ reader: inout DERReader, in attributes: Range<Int>
  ) throws(Refusal) -> (type: Int64, version: Int64, value: Range<Int>) {
    let attribute = try reader.next(DERTag.sequence, "attribute")
    reader.enter(attribute.contents)
    let type = try reader.integer("type of an attribute")
    let version = try reader.integer("version of an attribute")
    let value = try reader.next(DERTag.octetString, "value of an attribute").contents
    try reader.expectEnd(of: "attribute")
    reader.enter(attribute.range.upperBound..<attributes.upperBound)
    return (type, version, value)
  }

  /// Attributes of unknown types, in order.
  var unknown: [ReceiptAttribute] {
    unknownPositions.map {
      ReceiptAttribute(type: $0.type, version: $0.version, value: Array(der[$0.value]))
    }
  }

  /// The value as received; empty if it is absent.
  func bytes(_ type: Int64) -> [UInt8] {
    index(of: type).map { Array(der[values[$0]]) } ?? []
  }

  /// A text that is likely to be equal in the next set: equal ones share their memory.
  ///
  /// - Returns: nil for empty text.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not text.
  mutating func repeatedText(_ type: Int64, _ name: StaticString) throws(Refusal) -> String? {
    guard let index = index(of: type) else { return nil }
    // Equal bytes are equal texts, which were checked the first time.
    if areEqual(values[index], texts[index].value) { return texts[index].text }
    let text = try text(type, name)
    texts[index] = (values[index], text)
    return text
  }

  /// - Returns: nil for empty text.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not text.
  mutating func text(_ type: Int64, _ name: StaticString) throws(Refusal) -> String? {
    guard enter(type) != nil else { return nil }
    let text = try reader.text(name)
    try reader.expectEnd(of: name)
    guard !text.isEmpty else { return nil }
    return der.withUnsafeBytes {
      String(decoding: UnsafeRawBufferPointer(rebasing: $0[text]), as: UTF8.self)
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not an integer of 64 bits.
  mutating func integer(_ type: Int64, _ name: StaticString) throws(Refusal) -> Int64? {
    guard let index = enter(type) else { return nil }
    // Most are flags and quantities.
    if let (tag, contents) = usual(values[index]), tag == DERTag.integer, contents.count == 1 {
      return Int64(Int8(bitPattern: der[contents.lowerBound]))
    }
    let value = try reader.integer(name)
    try reader.expectEnd(of: name)
    return value
  }

  /// An integer as a flag: 0 or 1; nil for any other value.
  ///
  /// - Throws: as ``integer(_:_:)``.
  mutating func flag(_ type: Int64, _ name: StaticString) throws(Refusal) -> Bool? {
    switch try integer(type, name) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not an RFC 3339 date, or one of Xcode.
  mutating func moment(_ type: Int64, _ name: StaticString) throws(Refusal) -> Milliseconds? {
    guard let index = enter(type) else { return nil }
    // A date is valid text.
    if let (tag, contents) = usual(values[index]), DERTag.isText(tag) {
      if contents.isEmpty { return nil }
      if let moment = date(contents) { return moment }
    }
    let text = try reader.text(name)
    try reader.expectEnd(of: name)
    guard !text.isEmpty else { return nil }
    guard let moment = date(text) else {
      throw Refusal(.malformed, "the \(name) is not a date")
    }
    return moment
  }

  private func date(_ text: Range<Int>) -> Milliseconds? {
    let text = der.span.extracting(text)
    return hasXcodeDates ? Milliseconds(xcode: text) : Milliseconds(rfc3339: text)
  }

  /// The value as one element whose length has one octet, which nearly all are.
  ///
  /// - Returns: nil for any other form, which ``reader`` must read.
  @inline(__always)
  private func usual(_ value: Range<Int>) -> (tag: UInt8, contents: Range<Int>)? {
    guard value.count >= 2 else { return nil }
    let length = der[value.lowerBound + 1]
    guard length < 0x80, value.count == Int(length) + 2 else { return nil }
    return (der[value.lowerBound], value.lowerBound + 2..<value.upperBound)
  }

  private func areEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    der.withUnsafeBytes {
      IdentifierBytes.areEqual(
        UnsafeRawBufferPointer(rebasing: $0[left]), UnsafeRawBufferPointer(rebasing: $0[right]))
    }
  }

  /// Starts to read a value.
  ///
  /// - Returns: its index; nil when the attribute is absent or its value is empty.
  private mutating func enter(_ type: Int64) -> Int? {
    guard let index = index(of: type), !values[index].isEmpty else { return nil }
    reader.enter(values[index])
    return index
  }

  private func index(of type: Int64) -> Int? {
    // Only known types are present.
    guard let index = known.position(of: type), present & 1 &<< index != 0 else { return nil }
    return index
  }
}

/// The known types of a set of attributes. They are close to each other, so that their values need no
/// hash table.
struct KnownAttributes: Sendable {
  /// All types are below the first one and this.
  static let width = UInt64.bitWidth
  private let first: Int64
  private let types: UInt64

  /// - Parameters:
  ///   - first: the lowest type.
  ///   - others: each less than ``width`` above it.
  init(_ first: Int64, _ others: Int64...) {
    self.first = first
    types = others.reduce(1) { $0 | 1 << UInt64($1 - first) }
  }

  /// - Returns: a number below ``width``; nil for an unknown type.
  func index(of type: Int64) -> Int? {
    guard let position = position(of: type), types &>> position & 1 == 1 else { return nil }
    return position
  }

  /// - Returns: a number below ``width``; nil for a type that is further from the first one.
  func position(of type: Int64) -> Int? {
    // A lower type wraps to a large number.
    let offset = UInt64(bitPattern: type &- first)
    guard offset < UInt64(Self.width) else { return nil }
    return Int(truncatingIfNeeded: offset)
  }
}
