/// Reads consecutive DER elements (X.690) within fixed bounds. It does not copy and does not
/// descend: nested elements need another reader.
///
/// Only DER is accepted: definite lengths in their shortest form. Identifiers of more than one
/// octet are refused, because certificates and receipts have none.
///
/// Everything else throws a ``Refusal`` with ``Verdict/malformed``.
package struct DERReader: Sendable {
  private let bytes: [UInt8]
  private var position: Int
  private var end: Int

  /// Reads all of `bytes`.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    end = bytes.count
  }

  /// Reads the contents of `element`.
  ///
  /// - Parameter element: an element that a reader of the same bytes returned.
  package init(_ bytes: [UInt8], inside element: DERElement) {
    self.bytes = bytes
    position = element.contents.lowerBound
    end = element.contents.upperBound
  }

  /// Continues with the contents of another element. A reader of the same bytes returned it, or its
  /// range is in those contents. Making another reader retains the bytes; this does not.
  mutating func enter(_ contents: Range<Int>) {
    position = contents.lowerBound
    end = contents.upperBound
  }

  package var isAtEnd: Bool { position == end }

  /// The tag of the next element; nil at the end.
  package var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

  /// Reads the next element.
  ///
  /// - Throws: ``Refusal``, also at the end.
  // Inlined, as its callers here: an element is then a few registers.
  @inline(__always)
  package mutating func next() throws(Refusal) -> DERElement {
    let start = position
    guard start < end else { throw Self.malformed("unexpected end") }
    let tag = bytes[start]
    guard tag & 0x1F != 0x1F else { throw Self.malformed("an identifier has several octets") }
    var cursor = start + 1
    let length: Int
    // Nearly all lengths are short.
    if cursor < end, bytes[cursor] < 0x80 {
      length = Int(bytes[cursor])
      cursor += 1
    } else {
      length = try readLength(&cursor)
    }
    // Compared with the remaining length, which cannot overflow.
    guard length <= end - cursor else {
      throw Self.malformed("an element is longer than its container")
    }
    position = cursor + length
    return DERElement(tag: tag, start: start, contents: cursor..<position)
  }

  /// Reads the next element, which must have this tag.
  ///
  /// - Parameter name: the name of the value, for messages.
  /// - Throws: ``Refusal``.
  @inline(__always)
  package mutating func next(
    _ tag: UInt8, _ name: StaticString
  ) throws(Refusal) -> DERElement {
    guard nextTag == tag else { throw Self.unexpected(name) }
    return try next()
  }

  /// - Parameter name: the name of the value that ends here, for messages.
  /// - Throws: ``Refusal`` when bytes remain.
  @inline(__always)
  package func expectEnd(of name: StaticString) throws(Refusal) {
    guard isAtEnd else { throw Self.excess(after: name) }
  }

  private func readLength(_ cursor: inout Int) throws(Refusal) -> Int {
    guard cursor < end else { throw Self.malformed("unexpected end") }
    let first = bytes[cursor]
    cursor += 1
    guard first & 0x80 != 0 else { return Int(first) }
    guard first != 0x80 else { throw Self.malformed("a length is indefinite") }
    let count = Int(first & 0x7F)
    // Four octets allow 4 GiB, more than any input here, and fit an Int.
    guard count <= 4 else { throw Self.malformed("a length has more than four octets") }
    guard count <= end - cursor else { throw Self.malformed("unexpected end") }
    var length = 0
    for octet in bytes[cursor..<cursor + count] { length = length << 8 | Int(octet) }
    guard bytes[cursor] != 0, length >= 0x80 else {
      throw Self.malformed("a length is not in its shortest form")
    }
    cursor += count
    return length
  }

  // Not inlined: what happens rarely would take registers.
  @inline(never)
  private static func excess(after name: StaticString) -> Refusal {
    Refusal(.malformed, "unexpected bytes after the \(name)")
  }

  @inline(never)
  private static func unexpected(_ name: StaticString) -> Refusal {
    Refusal(.malformed, "expected \(name)")
  }

  @inline(never)
  static func malformed(_ reason: String) -> Refusal {
    Refusal(.malformed, "not DER: \(reason)")
  }
}

// The indefinite form of BER (X.690 section 8.1.3.6), which only ``IndefiniteForm`` reads.
extension DERReader {
  /// Whether the next element has an indefinite length.
  var isNextIndefinite: Bool { end - position >= 2 && bytes[position + 1] == 0x80 }

  /// Reads the identifier and the length of an element of indefinite length. Its contents follow.
  ///
  /// - Returns: the tag.
  /// - Throws: ``Refusal`` unless the element contains other elements (X.690 section 8.1.3.2).
  mutating func enterIndefinite() throws(Refusal) -> UInt8 {
    guard isNextIndefinite, DERTag.isConstructed(bytes[position]),
      bytes[position] & 0x1F != 0x1F
    else { throw Self.malformed("an indefinite length of an element without other elements") }
    defer { position += 2 }
    return bytes[position]
  }

  /// Reads the end-of-contents octets, if they are next.
  mutating func leaveIndefinite() -> Bool {
    guard end - position >= 2, bytes[position] == 0, bytes[position + 1] == 0 else { return false }
    position += 2
    return true
  }
}

extension DERReader {
  /// Reads the next element as an integer.
  ///
  /// - Parameter name: the name of the value, for messages.
  /// - Throws: ``Refusal`` when it is not an integer, not in its shortest form (X.690 section
  ///   8.3.2), or does not fit 64 bits.
  @inline(__always)
  package mutating func integer(_ name: StaticString) throws(Refusal) -> Int64 {
    let octets = try next(DERTag.integer, name).contents
    // Most are short: flags, versions, and types.
    switch octets.count {
    case 1:
      return Int64(Int8(bitPattern: bytes[octets.lowerBound]))
    case 2:
      let octets = (bytes[octets.lowerBound], bytes[octets.lowerBound + 1])
      let value = Int16(bitPattern: UInt16(octets.0) << 8 | UInt16(octets.1))
      guard Int8(exactly: value) == nil else { throw Self.padded(name) }
      return Int64(value)
    default:
      return try integer(octets, name)
    }
  }

  private func integer(_ octets: Range<Int>, _ name: StaticString) throws(Refusal) -> Int64 {
    guard !octets.isEmpty else {
      throw Refusal(.malformed, "the \(name) is an integer without a value")
    }
    let first = bytes[octets.lowerBound]
    // A first octet is redundant if the sign is the same without it.
    let isPadded = first == (bytes[octets.lowerBound + 1] & 0x80 == 0 ? 0x00 : 0xFF)
    guard !isPadded else { throw Self.padded(name) }
    guard octets.count <= 8 else {
      throw Refusal(.malformed, "the \(name) is an integer that does not fit 64 bits")
    }
    var value: Int64 = first & 0x80 == 0 ? 0 : -1
    for index in octets { value = value << 8 | Int64(bytes[index]) }
    return value
  }

  /// Reads the next element as an attribute of a receipt, if it has the form that nearly all attributes
  /// of purchases have: a sequence of an integer of two octets, one of one octet and an octet string,
  /// where both lengths have one octet. A purchase has 20 of them.
  ///
  /// - Returns: nil for any other form, which must be read element by element.
  @inline(__always)
  mutating func usualAttribute() -> (type: Int64, version: Int64, value: Range<Int>)? {
    // Tag and length of the sequence, both integers, tag and length of the octet string.
    let headLength = 2 + 4 + 3 + 2
    guard end - position >= headLength else { return nil }
    // The first eight bytes of the head, and its last four: they share one. Both end before `end`, which
    // is at most the number of bytes.
    let (first, last) = bytes.withUnsafeBytes { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)),
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position &+ 7, as: UInt32.self))
      )
    }
    let length = Int(last & 0xFF)
    let type = Int16(truncatingIfNeeded: first >> 16)
    let contents = position &+ headLength
    guard first & 0xFF00_FFFF_0000_FFFF == 0x3000_0202_0000_0201, last & 0xFF00 == 0x0400,
      // Both lengths have one octet.
      length < 0x80 - (headLength - 2), Int(first >> 48 & 0xFF) == length &+ (headLength - 2),
      length <= end &- contents, Int8(exactly: type) == nil
    else { return nil }
    position = contents &+ length
    let version = Int64(Int8(truncatingIfNeeded: last >> 16))
    return (Int64(type), version, contents..<position)
  }

  private static func padded(_ name: StaticString) -> Refusal {
    Refusal(.malformed, "the \(name) is an integer that is not in its shortest form")
  }

  /// Reads the next element as text: a UTF8String or an IA5String.
  ///
  /// - Parameter name: the name of the value, for messages.
  /// - Returns: the range of its octets, which are UTF-8.
  /// - Throws: ``Refusal`` when it is of another type, is not validly encoded, or contains a NUL,
  ///   which C libraries treat as the end.
  package mutating func text(_ name: StaticString) throws(Refusal) -> Range<Int> {
    let tag = nextTag
    guard let tag, DERTag.isText(tag) else {
      throw Refusal(.malformed, "the \(name) is not text")
    }
    let octets = try next().contents
    let (containsNUL, isASCII) = bytes.withUnsafeBytes {
      Self.forms(of: UnsafeRawBufferPointer(rebasing: $0[octets]))
    }
    guard !containsNUL else { throw Refusal(.malformed, "the \(name) contains a NUL") }
    guard isASCII || tag == DERTag.utf8String && isUTF8(octets) else {
      throw Refusal(.malformed, "the \(name) is not validly encoded text")
    }
    return octets
  }

  /// Whether any of the bytes is 0, and whether all are ASCII.
  // Eight bytes at a time: a receipt of 187 purchases has 1,100 texts.
  private static func forms(
    of text: UnsafeRawBufferPointer
  ) -> (containsNUL: Bool, isASCII: Bool) {
    let highBits: UInt64 = 0x8080_8080_8080_8080
    var zeros: UInt64 = 0
    var bits: UInt64 = 0
    func add(_ word: UInt64) {
      // Taking 1 from a byte sets its high bit, unless it was set, only if the byte is 0 or a lower one
      // was.
      zeros |= (word &- 0x0101_0101_0101_0101) & ~word
      bits |= word
    }
    var offset = 0
    while text.count &- offset >= 8 {
      add(text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset &+= 8
    }
    if text.count >= 8 {
      // The last word may overlap the one before it.
      add(text.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self))
    } else {
      for byte in text { add(UInt64(byte) | 0x0101_0101_0101_0100) }
    }
    return (zeros & highBits != 0, bits & highBits == 0)
  }

  private func isUTF8(_ octets: Range<Int>) -> Bool {
    String(validating: bytes[octets], as: UTF8.self) != nil
  }
}

/// The position of an element in DER. It fits four registers, in which it is returned: a receipt of 187
/// purchases has 9,000.
package struct DERElement: Hashable, Sendable {
  /// The identifier octet.
  package let tag: UInt8
  fileprivate let start: Int
  /// The contents octets, which end the element.
  package let contents: Range<Int>

  /// The whole element.
  package var range: Range<Int> { start..<contents.upperBound }
}

/// Identifier octets of the DER elements of a receipt (X.690 section 8.1.2).
package enum DERTag {
  package static let integer: UInt8 = 0x02
  package static let octetString: UInt8 = 0x04
  package static let objectIdentifier: UInt8 = 0x06
  package static let utf8String: UInt8 = 0x0C
  package static let ia5String: UInt8 = 0x16
  package static let sequence: UInt8 = 0x30
  package static let set: UInt8 = 0x31

  /// The constructed context-specific tag `[number]`. `number` must be below 31.
  package static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

  /// Whether elements with this tag are text of the two kinds that receipts have.
  static func isText(_ tag: UInt8) -> Bool { tag == utf8String || tag == ia5String }

  /// Whether elements with this tag contain other elements.
  static func isConstructed(_ tag: UInt8) -> Bool { tag & 0x20 != 0 }
}
