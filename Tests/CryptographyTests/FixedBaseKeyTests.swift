import COpenSSL
import TestSupport
import Testing

@testable import Cryptography

/// Signature checks with a table of the key's multiples: the verdict of OpenSSL's ordinary check, for
/// every input.
@Suite("Checks of signatures with a table of the key")
struct FixedBaseKeyTests {
  let curve: CurvePoints

  init() throws { curve = try CurvePoints() }

  /// A key with a table, and the same without.
  private struct Pair {
    let ordinary: VerifyingKey
    let fast: VerifyingKey

    init(_ make: () throws -> VerifyingKey) throws {
      (ordinary, fast) = (try make(), try make())
      try #require(fast.makeTable())
      try #require(fast.hasTable && !ordinary.hasTable)
    }

    /// - Returns: the verdict of both.
    func verdict(
      _ signature: [UInt8], _ digest: [UInt8],
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Bool {
      let words = (0..<4).map { word in
        digest[word * 8..<word * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      }
      let digest = SHA256Digest(words: (words[0], words[1], words[2], words[3]))
      let fast = try fast.isValidSignature(signature, ofDigest: digest)
      #expect(
        fast == (try ordinary.isValidSignature(signature, ofDigest: digest)),
        "\(signature) of \(digest)", sourceLocation: sourceLocation)
      return fast
    }
  }

  private func signature(r: OpaquePointer, s: OpaquePointer) -> [UInt8] {
    curve.bytes(r) + curve.bytes(s)
  }

  private func random(_ random: inout SeededRandom) throws -> OpaquePointer {
    // Below the order, whatever the other bytes are.
    try curve.number(
      [UInt8.random(in: 1..<0xFF, using: &random)]
        + (1..<32).map { _ in .random(in: .min ... .max, using: &random) })
  }

  /// Numbers with long runs of equal bits, near the ends and the middle of the range, and on the
  /// borders of windows.
  private func edges() throws -> [OpaquePointer] {
    let small = try [1, 2, 3, 5, 7, 8, 63, 64, 65, 127, 128, 129, 255, 16_383, 16_384].map {
      try curve.number($0)
    }
    let patterns: [[UInt8]] = [
      .init(repeating: 0x55, count: 32), .init(repeating: 0xAA, count: 32),
      [0x80] + .init(repeating: 0, count: 31), [0x7F] + .init(repeating: 0xFF, count: 31),
      .init(repeating: 0, count: 16) + .init(repeating: 0xFF, count: 16),
      .init(repeating: 0xFF, count: 4) + .init(repeating: 0, count: 28),
      .init(repeating: 0x81, count: 32), .init(repeating: 0x02, count: 32),
    ]
    let half = try curve.inverse(try curve.number(2))
    return try small + small.map { try curve.negative($0) } + patterns.map { try curve.number($0) }
      + [half, try curve.negative(half)]
  }

  /// u₁ and u₂ are what the generator and the key are multiplied by. With R and these numbers given,
  /// the key is Q = (R − u₁G) / u₂, s = r / u₂ and the digest u₁s.
  @Test func `signatures whose multiples are at the limits of the arithmetic`() throws {
    var generator = SeededRandom(for: "multiples at the limits")
    let edges = try edges()
    for u2 in edges {
      let u1 = try #require(edges.randomElement(using: &generator))
      for multiple in [u1, try random(&generator)] {
        let point = try curve.sum(try random(&generator))
        let r = try curve.r(point)
        let inverse = try curve.inverse(u2)
        let key = try curve.sum(
          try curve.negative(try curve.product(multiple, inverse)), inverse, point)
        let s = try curve.product(r, inverse)
        let pair = try Pair { try curve.key(key) }
        let digest = curve.bytes(try curve.product(multiple, s))
        #expect(try pair.verdict(signature(r: r, s: s), digest))
        // The other signature of the same point, -R.
        #expect(try pair.verdict(signature(r: r, s: try curve.negative(s)), digest))
      }
    }
  }

  @Test func `sums that are a doubling, infinity, or one of their two parts`() throws {
    var generator = SeededRandom(for: "special sums")
    for _ in 0..<16 {
      let secret = try random(&generator)
      let pair = try Pair { try curve.key(try curve.sum(secret)) }
      // u₁G = u₂Q: the digest is r times the secret, and R = 2u₁G.
      let half = try random(&generator)
      let r = try curve.r(try curve.sum(try curve.product(half, try curve.number(2))))
      let digest = try curve.product(r, secret)
      let s = try curve.product(digest, try curve.inverse(half))
      #expect(try pair.verdict(signature(r: r, s: s), curve.bytes(digest)))
      // u₁G = −u₂Q: no point is left, whatever r and s are.
      #expect(
        try !pair.verdict(signature(r: r, s: s), curve.bytes(try curve.negative(digest))))
      // u₁ = 0: the digest is zero, and R = u₂Q.
      let zero = [UInt8](repeating: 0, count: 32)
      let multiple = try random(&generator)
      let other = try curve.r(try curve.sum(try curve.product(multiple, secret)))
      let quotient = try curve.product(other, try curve.inverse(multiple))
      #expect(try pair.verdict(signature(r: other, s: quotient), zero))
      #expect(try pair.verdict(signature(r: other, s: quotient), curve.bytes(curve.order)))
      #expect(try !pair.verdict(signature(r: r, s: s), zero))
    }
  }

  /// About one in 2¹²⁸ signatures has an R whose x is above the order: r is the rest.
  @Test func `a point whose x is above the order`() throws {
    var generator = SeededRandom(for: "x above the order")
    var found = 0
    for offset in UInt(1)...64 {
      let r = try curve.number(offset)
      let x = try curve.number()
      try #require(BN_add(x, curve.order, r) == 1)
      guard let point = try curve.point(x: x) else { continue }
      found += 1
      let (s, e) = (try random(&generator), try random(&generator))
      // Q = (sR − eG) / r
      let inverse = try curve.inverse(r)
      let key = try curve.sum(
        try curve.negative(try curve.product(e, inverse)), try curve.product(s, inverse), point)
      let pair = try Pair { try curve.key(key) }
      #expect(try pair.verdict(signature(r: r, s: s), curve.bytes(e)))
      // x itself is no r.
      #expect(try !pair.verdict(signature(r: x, s: s), curve.bytes(e)))
      let next = try curve.number(offset + 1)
      #expect(try !pair.verdict(signature(r: next, s: s), curve.bytes(e)))
    }
    #expect(found > 16)
  }

  /// s is inverted. Q = (sR − eG) / r
  @Test func `every s at the limits`() throws {
    var generator = SeededRandom(for: "s at the limits")
    for s in try edges() {
      let (point, e) = (try curve.sum(try random(&generator)), try random(&generator))
      let r = try curve.r(point)
      let inverse = try curve.inverse(r)
      let key = try curve.sum(
        try curve.negative(try curve.product(e, inverse)), try curve.product(s, inverse), point)
      let pair = try Pair { try curve.key(key) }
      #expect(try pair.verdict(signature(r: r, s: s), curve.bytes(e)))
      #expect(try pair.verdict(signature(r: r, s: try curve.negative(s)), curve.bytes(e)))
      #expect(try !pair.verdict(signature(r: s, s: r), curve.bytes(e)))
    }
  }

  @Test func `numbers outside of their range are refused`() throws {
    let secret = try curve.number(7)
    let pair = try Pair { try curve.key(try curve.sum(secret)) }
    let largest = [UInt8](repeating: 0xFF, count: 32)
    let above = try curve.number()
    try #require(BN_add(above, curve.order, try curve.number(1)) == 1)
    let outside = [try curve.number(), curve.order, above, try curve.number(largest)]
    let inside = [try curve.number(1), try curve.negative(try curve.number(1))]
    for digest in [[UInt8](repeating: 0, count: 32), curve.bytes(secret), largest] {
      for number in outside {
        for other in outside + inside {
          #expect(try !pair.verdict(signature(r: number, s: other), digest))
          #expect(try !pair.verdict(signature(r: other, s: number), digest))
        }
      }
      for (r, s) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        _ = try pair.verdict(signature(r: inside[r], s: inside[s]), digest)
      }
    }
    #expect(try !pair.fast.isValidSignature([UInt8](repeating: 1, count: 63), of: [1]))
    #expect(try !pair.fast.isValidSignature([UInt8](repeating: 1, count: 65), of: [1]))
  }

  @Test func `keys at the limits`() throws {
    var generator = SeededRandom(for: "keys at the limits")
    let one = try curve.number(1)
    for secret in try edges() + [one, try curve.negative(one)] {
      let pair = try Pair { try curve.key(try curve.sum(secret)) }
      let k = try random(&generator)
      let e = try random(&generator)
      let r = try curve.r(try curve.sum(k))
      // s = (e + r d) / k
      let total = try curve.number()
      let context = try #require(BN_CTX_new())
      defer { BN_CTX_free(context) }
      try #require(
        BN_mod_add(total, e, try curve.product(r, secret), curve.order, context) == 1)
      let s = try curve.product(total, try curve.inverse(k))
      #expect(try pair.verdict(signature(r: r, s: s), curve.bytes(e)))
      #expect(try pair.verdict(signature(r: r, s: try curve.negative(s)), curve.bytes(e)))
      #expect(try !pair.verdict(signature(r: r, s: s), curve.bytes(k)))
    }
  }

  @Test func `every bit of a signature and of its digest counts`() throws {
    let key = try SigningKey.generate(.p256)
    let pair = try Pair { try key.verifyingKey }
    let genuine = try key.signature(over: [1, 2, 3])
    let digest = try SHA256.digest(of: [1, 2, 3]).bytes
    #expect(try pair.verdict(genuine, digest))
    for bit in 0..<(96 * 8) {
      var bytes = genuine + digest
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try !pair.verdict(Array(bytes[..<64]), Array(bytes[64...])), "bit \(bit)")
    }
  }

  @Test func `random signatures, genuine and not`() throws {
    var generator = SeededRandom(for: "random signatures")
    for _ in 0..<20 {
      let key = try SigningKey.generate(.p256)
      let pair = try Pair { try key.verifyingKey }
      for _ in 0..<50 {
        let message = generator.bytes(upTo: 64)
        let digest = try SHA256.digest(of: message).bytes
        #expect(try pair.verdict(try key.signature(over: message), digest))
        let noise = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        #expect(try !pair.verdict(noise, digest))
      }
    }
  }

  @Test func `a table comes and goes while signatures are checked`() async throws {
    let key = try SigningKey.generate(.p256)
    let verifying = try key.verifyingKey
    let signature = try key.signature(over: [9])
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try (0..<500).allSatisfy { _ in try verifying.isValidSignature(signature, of: [9]) }
        }
      }
      for _ in 0..<4 {
        #expect(verifying.makeTable())
        verifying.dropTable()
      }
      for try await areValid in group { #expect(areValid) }
    }
    #expect(!verifying.hasTable)
  }
}
