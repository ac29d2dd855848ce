import EntitlementDomain
import JSON

/// Writes a JSON object, one member after the other. A receipt is as many objects as it has purchases,
/// so each member is written at once, to memory that nearly always is enough for all of them.
struct PayloadMembers {
  // A subscription purchase has 500 bytes. Memory of less than 1 kB is the fastest to get.
  private var bytes = [UInt8](repeating: 0, count: 960)
  private var count = 1
  /// Whether all texts can be read again as they are: none is empty, and none was escaped.
  private(set) var arePlain = true

  init() {
    bytes[0] = UInt8(ascii: "{")
  }

  /// The object with the members, after which no more are written.
  mutating func end() -> [UInt8] {
    bytes[count] = UInt8(ascii: "}")
    return Array(bytes[...count])
  }

  /// Starts another object, in the same memory.
  mutating func restart() {
    count = 1
    arePlain = true
  }

  /// Appends the members of another object, of which there is at least one.
  mutating func append(_ other: PayloadMembers) {
    arePlain = arePlain && other.arePlain
    reserve(other.count)
    bytes.withUnsafeMutableBufferPointer { output in
      if count > 1 {
        output[count] = UInt8(ascii: ",")
        count += 1
      }
      count = other.bytes.withUnsafeBufferPointer {
        output[count...].update(fromContentsOf: $0[1..<other.count])
      }
    }
  }

  mutating func append(_ offer: Offer?) {
    append("offerType", offer?.type.rawValue)
    append("offerIdentifier", offer?.identifier)
    append("offerDiscountType", offer?.discountType?.rawValue)
  }

  mutating func append<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
    append(name, identifier?.rawValue)
  }

  mutating func append(_ name: StaticString, _ moment: Milliseconds?) {
    append(name, moment?.rawValue)
  }

  mutating func append(_ name: StaticString, _ number: Int64?) {
    guard let number else { return }
    // The longest has a sign and 19 digits.
    append(name, maximumLength: 20) { Self.write(number, to: $0) }
  }

  mutating func append(_ name: StaticString, _ flag: Bool?) {
    guard let flag else { return }
    let literal: StaticString = flag ? "true" : "false"
    append(name, maximumLength: literal.utf8CodeUnitCount) { Self.write(literal, to: $0) }
  }

  mutating func append(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    arePlain = arePlain && !text.isEmpty
    var isEscaped = false
    text.utf8.span.withUnsafeBufferPointer { text in
      // An escape has six characters at most.
      append(name, maximumLength: 6 * text.count + 2) { output in
        var end = Self.copy(text, to: output + 1)
        if end == nil {
          isEscaped = true
          end = Self.escape(text, to: output + 1)
        }
        let length = end.map { $0 - output } ?? 1
        output[0] = UInt8(ascii: "\"")
        output[length] = UInt8(ascii: "\"")
        return length + 1
      }
    }
    arePlain = arePlain && !isEscaped
  }

  /// - Parameters:
  ///   - maximumLength: maximum number of bytes of the value.
  ///   - write: writes the value and returns its number of bytes.
  private mutating func append(
    _ name: StaticString, maximumLength: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int
  ) {
    // Two quotes and a colon.
    reserve(name.utf8CodeUnitCount + maximumLength + 3)
    let written = count
    count = bytes.withUnsafeMutableBufferPointer { buffer in
      // The buffer is not empty.
      guard let start = buffer.baseAddress else { return written }
      var output = start + written
      if written > 1 {
        output[0] = UInt8(ascii: ",")
        output += 1
      }
      output[0] = UInt8(ascii: "\"")
      output += 1
      output += Self.write(name, to: output)
      output[0] = UInt8(ascii: "\"")
      output[1] = UInt8(ascii: ":")
      output += 2
      output += write(output)
      return output - start
    }
  }
}

extension PayloadMembers {
  /// Makes room for members of this length, a comma before them and the end of the object.
  private mutating func reserve(_ length: Int) {
    let needed = length + 2
    guard bytes.count - count < needed else { return }
    bytes.append(contentsOf: repeatElement(0, count: max(needed, bytes.count)))
  }
}

// Each writes to memory that has room, and returns the number of bytes or their end.
extension PayloadMembers {
  private static func write(_ text: StaticString, to output: UnsafeMutablePointer<UInt8>) -> Int {
    output.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    return text.utf8CodeUnitCount
  }

  private static func write(_ number: Int64, to output: UnsafeMutablePointer<UInt8>) -> Int {
    var rest = number.magnitude
    var start = 0
    if number < 0 {
      output[0] = UInt8(ascii: "-")
      start = 1
    }
    var end = start
    // The last digit first.
    repeat {
      output[end] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
      end += 1
    } while rest > 0
    var digits = UnsafeMutableBufferPointer(start: output + start, count: end - start)
    digits.reverse()
    return end
  }

  /// - Returns: nil when a byte must be escaped.
  private static func copy(
    _ text: UnsafeBufferPointer<UInt8>, to output: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8>? {
    var mustEscape: UInt8 = 0
    for byte in text { mustEscape |= isEscaped(byte) ? 1 : 0 }
    guard mustEscape == 0 else { return nil }
    if let start = text.baseAddress { output.update(from: start, count: text.count) }
    return output + text.count
  }

  private static func escape(
    _ text: UnsafeBufferPointer<UInt8>, to output: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    var output = output
    func put(_ byte: UInt8) {
      output[0] = byte
      output += 1
    }
    for byte in text {
      if byte < 0x20 {
        output += write("\\u00", to: output)
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
