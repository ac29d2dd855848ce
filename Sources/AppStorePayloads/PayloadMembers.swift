import EntitlementDomain
import JSON

/// Writes a JSON object, one member after the other. A receipt is as many objects as it has purchases,
/// so each member is written at once, to memory that nearly always is enough for all of them.
///
/// Each append first makes room for the longest form of its member (``reserve(_:)``), and then writes
/// without further checks. Reading is checked as everywhere.
struct PayloadMembers: ~Copyable {
  // Each member begins with a comma. That of the first one is replaced by the brace of the object.
  private var start: UnsafeMutableRawPointer
  private var capacity: Int
  private var count = 0
  /// Whether all texts can be read again as they are: none is empty, and none was escaped.
  private(set) var arePlain = true

  init() {
    // A subscription purchase has 500 bytes. Memory of less than 1 kB is the fastest to get.
    capacity = 960
    start = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
  }

  deinit { start.deallocate() }

  /// The object with the members. Others may follow, in another object.
  mutating func end() -> [UInt8] {
    reserve(2)
    start.storeBytes(of: UInt8(ascii: "}"), toByteOffset: max(count, 1), as: UInt8.self)
    start.storeBytes(of: UInt8(ascii: "{"), as: UInt8.self)
    return Array(UnsafeRawBufferPointer(start: start, count: max(count, 1) + 1))
  }

  /// Starts another object, in the same memory.
  mutating func restart() {
    count = 0
    arePlain = true
  }

  /// The members, for many objects.
  func shared() -> Shared {
    Shared(
      bytes: Array(UnsafeRawBufferPointer(start: start, count: count)), arePlain: arePlain)
  }

  /// Members of many objects, each after a comma.
  struct Shared {
    fileprivate let bytes: [UInt8]
    fileprivate let arePlain: Bool
  }

  mutating func append(_ other: Shared) {
    arePlain = arePlain && other.arePlain
    reserve(other.bytes.count)
    other.bytes.withUnsafeBytes { bytes in
      if let address = bytes.baseAddress {
        (start + count).copyMemory(from: address, byteCount: bytes.count)
      }
    }
    count += other.bytes.count
  }

  mutating func append(_ offer: Offer?) {
    guard let offer else { return }
    append("offerType", offer.type.rawValue)
    append("offerIdentifier", offer.identifier)
    append("offerDiscountType", offer.discountType?.rawValue)
  }

  @inline(__always)
  mutating func append<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
    guard let identifier else { return }
    append(name, identifier.rawValue)
  }

  @inline(__always)
  mutating func append(_ name: StaticString, _ moment: Milliseconds?) {
    guard let moment else { return }
    append(name, moment.rawValue)
  }

  @inline(__always)
  mutating func append(_ name: StaticString, _ number: Int64?) {
    guard let number else { return }
    let output = appendName(name, before: DecimalDigits.room)
    count += DecimalDigits.write(number, to: output)
  }

  mutating func append(_ name: StaticString, _ flag: Bool?) {
    guard let flag else { return }
    let literal: StaticString = flag ? "true" : "false"
    let output = appendName(name, before: literal.utf8CodeUnitCount)
    output.copyMemory(from: literal.utf8Start, byteCount: literal.utf8CodeUnitCount)
    count += literal.utf8CodeUnitCount
  }

  @inline(__always)
  mutating func append(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    append(name, text)
  }

  @inline(__always)
  private mutating func append(_ name: StaticString, _ text: String) {
    // An escape has six characters at most.
    append(text, to: appendName(name, before: 6 * text.utf8.count + 2))
  }

  /// - Parameter output: has room for the text in quotes, each character escaped.
  @inline(never)
  private mutating func append(_ text: String, to output: UnsafeMutableRawPointer) {
    text.utf8.span.withUnsafeBytes { text in
      let contents = output + 1
      var end = contents + text.count
      if !Self.copy(text, to: contents) {
        end = Self.escape(text, to: contents)
        arePlain = false
      }
      output.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
      count += end + 1 - output
      arePlain = arePlain && !text.isEmpty
    }
  }

  /// Appends a comma, the name and a colon.
  ///
  /// - Parameter length: of the value at most.
  /// - Returns: where the value is written, with room for it. Its length is to be added to ``count``.
  // Inlined: a name of known length is copied by a few instructions.
  @inline(__always)
  private mutating func appendName(
    _ name: StaticString, before length: Int
  ) -> UnsafeMutableRawPointer {
    let nameLength = name.utf8CodeUnitCount
    // A comma, two quotes and a colon.
    reserve(nameLength + length + 4)
    let output = start + count
    output.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
    output.storeBytes(of: UInt8(ascii: "\""), toByteOffset: 1, as: UInt8.self)
    (output + 2).copyMemory(from: name.utf8Start, byteCount: nameLength)
    output.storeBytes(of: UInt8(ascii: "\""), toByteOffset: nameLength + 2, as: UInt8.self)
    output.storeBytes(of: UInt8(ascii: ":"), toByteOffset: nameLength + 3, as: UInt8.self)
    count += nameLength + 4
    return output + (nameLength + 4)
  }

  /// Makes room for this number of bytes.
  @inline(__always)
  private mutating func reserve(_ length: Int) {
    if capacity - count < length { grow(by: length) }
  }

  @inline(never)
  private mutating func grow(by length: Int) {
    capacity += max(length, capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
    larger.copyMemory(from: start, byteCount: count)
    start.deallocate()
    start = larger
  }
}

// Both write to memory that has room.
extension PayloadMembers {
  /// Copies a text unless a byte of it must be escaped.
  ///
  /// - Returns: whether it was copied whole.
  // Eight bytes at a time: nearly all texts are identifiers.
  private static func copy(
    _ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer
  ) -> Bool {
    guard text.count >= 8 else {
      for (offset, byte) in text.enumerated() {
        if isEscaped(byte) { return false }
        output.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
      }
      return true
    }
    var found: UInt64 = 0
    // The last word may overlap the one before it.
    let last = text.count &- 8
    var offset = 0
    while true {
      let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      found |= escaped(in: word)
      output.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
      if offset == last { return found == 0 }
      offset = min(offset &+ 8, last)
    }
  }

  /// Not 0 if one of the eight bytes must be escaped, as of ``isEscaped(_:)``.
  private static func escaped(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    // As of a subtraction by hand, taking more from a byte than it is sets its high bit. A byte may also
    // be found because a lower one was.
    func zeros(in word: UInt64) -> UInt64 { (word &- ones) & ~word }
    let control = (word &- 0x20 &* ones) & ~word
    let quote = zeros(in: word ^ UInt64(UInt8(ascii: "\"")) &* ones)
    let backslash = zeros(in: word ^ UInt64(UInt8(ascii: "\\")) &* ones)
    return (control | quote | backslash) & (0x80 &* ones)
  }

  /// - Returns: the end of what was written.
  private static func escape(
    _ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    var output = output
    func put(_ byte: UInt8) {
      output.storeBytes(of: byte, as: UInt8.self)
      output += 1
    }
    for byte in text {
      if byte < 0x20 {
        for byte in "\\u00".utf8 { put(byte) }
        put(hexadecimalDigit(byte >> 4))
        put(hexadecimalDigit(byte & 15))
      } else {
        if isEscaped(byte) { put(UInt8(ascii: "\\")) }
        put(byte)
      }
    }
    return output
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }
}
