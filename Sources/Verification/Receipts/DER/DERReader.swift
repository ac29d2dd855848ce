/// Reads the elements of a DER text (X.690) one after the other, within bounds that it never
/// leaves. It copies nothing and descends nowhere by itself: what an element holds is read by
/// another reader.
///
/// Only what DER allows is read: definite lengths in their shortest form. An identifier of more
/// than one octet is refused: neither certificates nor receipts have any.
///
/// Whatever is not read is a ``Refusal`` with ``Verdict/malformed``.
package struct DERReader: Sendable {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  /// Reads all of `bytes`.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    end = bytes.count
  }

  /// Reads what `element` holds.
  ///
  /// - Parameter element: one that a reader of the same bytes gave.
  package init(_ bytes: [UInt8], inside element: DERElement) {
    self.bytes = bytes
    position = element.contents.lowerBound
    end = element.contents.upperBound
  }

  package var isAtEnd: Bool { position == end }

  /// The tag of the next element; nil at the end.
  package var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

  /// The next element, whatever it is.
  ///
  /// - Throws: ``Refusal``, also at the end.
  package mutating func next() throws(Refusal) -> DERElement {
    let start = position
    guard start < end else { throw Self.malformed("it ends early") }
    let tag = bytes[start]
    guard tag & 0x1F != 0x1F else { throw Self.malformed("an identifier has several octets") }
    var cursor = start + 1
    let length = try readLength(&cursor)
    // Never an overflow: the length is compared with what is left.
    guard length <= end - cursor else {
      throw Self.malformed("an element is longer than what holds it")
    }
    position = cursor + length
    return DERElement(tag: tag, range: start..<position, contents: cursor..<position)
  }

  /// The next element, which must be of this kind.
  ///
  /// - Parameter name: what it is, for people.
  /// - Throws: ``Refusal``.
  package mutating func next(
    _ tag: UInt8, _ name: StaticString
  ) throws(Refusal) -> DERElement {
    guard nextTag == tag else { throw Refusal(.malformed, "no \(name) where one must be") }
    return try next()
  }

  /// - Parameter name: what was read, for people.
  /// - Throws: ``Refusal`` when something is left.
  package func expectEnd(of name: StaticString) throws(Refusal) {
    guard isAtEnd else { throw Refusal(.malformed, "something follows what ends the \(name)") }
  }

  /// The bytes of an element that this reader gave.
  subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

  private func readLength(_ cursor: inout Int) throws(Refusal) -> Int {
    guard cursor < end else { throw Self.malformed("it ends early") }
    let first = bytes[cursor]
    cursor += 1
    guard first & 0x80 != 0 else { return Int(first) }
    guard first != 0x80 else { throw Self.malformed("a length is indefinite") }
    let count = Int(first & 0x7F)
    // Four octets tell of 4 GiB: more than can be here, and what an Int holds.
    guard count <= 4 else { throw Self.malformed("a length has more than four octets") }
    guard count <= end - cursor else { throw Self.malformed("it ends early") }
    var length = 0
    for octet in bytes[cursor..<cursor + count] { length = length << 8 | Int(octet) }
    guard bytes[cursor] != 0, length >= 0x80 else {
      throw Self.malformed("a length is not in its shortest form")
    }
    cursor += count
    return length
  }

  static func malformed(_ reason: String) -> Refusal {
    Refusal(.malformed, "not DER: \(reason)")
  }
}
