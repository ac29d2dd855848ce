/// The payload of a fact with its proof: the fact can be decoded and verified again.
package struct SignedPayload: Hashable, Sendable {
  /// The signed bytes that contain the payload.
  package enum Proof: Hashable, Sendable {
    /// The parts of a JWS: the header segment in base64url, which is long and shared by all
    /// payloads of one signer, and the signature r‖s of 64 bytes. Verification accepts only
    /// canonical base64url, so encoding the three parts again gives the bytes that Apple sent.
    case jws(header: [UInt8], signature: [UInt8])
    /// A whole legacy receipt (DER) or archived response (JSON). All facts of the document share
    /// it.
    case document([UInt8])
  }

  /// JSON with Apple's field names: the decoded payload of a JWS, or one item of a document.
  package var payload: [UInt8]
  package var proof: Proof

  package init(payload: [UInt8], proof: Proof) {
    self.payload = payload
    self.proof = proof
  }

  package init(header: [UInt8], payload: [UInt8], signature: [UInt8]) {
    self.init(payload: payload, proof: .jws(header: header, signature: signature))
  }
}

/// The first 16 bytes of the SHA-256 of a payload's bytes (the decoded JSON). It identifies one
/// statement, and breaks ties between versions of a fact (R5, R67).
///
/// 128 bits are enough: two payloads with one digest would both have to be signed by Apple, and to
/// find such a pair takes 2^64 hashes of payloads of one's own choice.
package struct PayloadDigest: Hashable, Comparable, Sendable {
  package static let length = 16

  // Two big-endian words compare like the bytes, and need no allocation.
  private let words: (UInt64, UInt64)

  /// - Parameter bytes: exactly ``length`` bytes. Another count is a programming error.
  // Not generic: each fact that is read from a store has one, and a generic collection took 4 % of
  // such a read.
  package init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Self($0) }
  }

  /// As ``init(_:)``, for bytes of a row.
  package init(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == Self.length, "a digest of a payload has 16 bytes")
    func word(_ index: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    words = (word(0), word(1))
  }

  /// - Parameter words: the digest as two big-endian words, in the order of the bytes.
  package init(words: (UInt64, UInt64)) {
    self.words = words
  }

  /// - Parameter words: a whole SHA-256 as four such words.
  package init(sha256 words: (UInt64, UInt64, UInt64, UInt64)) {
    self.words = (words.0, words.1)
  }

  package var bytes: [UInt8] {
    [words.0, words.1].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// The 16 bytes in lower-case hexadecimal digits.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.words == right.words
  }

  package static func < (left: Self, right: Self) -> Bool {
    left.words < right.words
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
  }
}

/// A fact with its signed payload.
package struct SignedFact: Hashable, Sendable {
  package var fact: Fact
  package var signed: SignedPayload

  package init(fact: Fact, signed: SignedPayload) {
    self.fact = fact
    self.signed = signed
  }
}
