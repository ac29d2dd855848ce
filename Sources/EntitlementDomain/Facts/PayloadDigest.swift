/// The SHA-256 of a signed payload's bytes (the decoded JSON): names one statement exactly and
/// breaks ties between versions of a fact (R5).
package struct PayloadDigest: Hashable, Comparable, Sendable {
  // Four big-endian words compare as the 32 bytes do, without an array for each fact.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// - Parameter bytes: exactly 32 bytes; a precondition, since only a hash function makes them.
  package init(_ bytes: some Collection<UInt8>) {
    precondition(bytes.count == 32, "a SHA-256 digest has 32 bytes")
    var iterator = bytes.makeIterator()
    func word() -> UInt64 {
      var value: UInt64 = 0
      for _ in 0..<8 { value = value << 8 | UInt64(iterator.next() ?? 0) }
      return value
    }
    words = (word(), word(), word(), word())
  }

  /// - Parameter words: the digest as four big-endian words, the first bytes first.
  package init(words: (UInt64, UInt64, UInt64, UInt64)) {
    self.words = words
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.words == right.words
  }

  package static func < (left: Self, right: Self) -> Bool {
    left.words < right.words
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
