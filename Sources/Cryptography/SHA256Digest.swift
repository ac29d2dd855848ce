/// The 32 bytes of a SHA-256, without an array.
package struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
  /// Four big-endian words, the first bytes first.
  package let words: (UInt64, UInt64, UInt64, UInt64)

  package init(words: (UInt64, UInt64, UInt64, UInt64)) {
    self.words = words
  }

  /// 64 hexadecimal digits in either case, as `openssl dgst` prints them; nil for anything else.
  package init?(hexadecimal text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, digit) in digits.enumerated() {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      words[index / 16] = words[index / 16] << 4 | UInt64(value)
    }
    self.words = (words[0], words[1], words[2], words[3])
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// 64 lower-case hexadecimal digits.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  package var description: String { hexadecimal }

  package static func == (left: Self, right: Self) -> Bool {
    left.words == right.words
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
