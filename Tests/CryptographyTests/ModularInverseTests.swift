import COpenSSL
import TestSupport
import Testing

@testable import Cryptography

/// Inverses as OpenSSL computes them, for numbers at the limits and random ones.
@Suite("Inverses modulo an odd number")
struct ModularInverseTests {
  private typealias Words = InlineArray<4, UInt64>

  /// The order of P-256 and its field, and moduli that are not prime: 2²⁵⁶ − 1, the smallest with 256 bits,
  /// and one with a small factor.
  private static let moduli: [(String, [UInt64])] = [
    ("order", [0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, .max, 0xFFFF_FFFF_0000_0000]),
    ("field", [.max, 0xFFFF_FFFF, 0, 0xFFFF_FFFF_0000_0001]),
    ("maximum", [.max, .max, .max, .max]),
    ("power of two and one", [1, 0, 0, 1 << 63]),
    ("multiple of 15", [0xF, 0, 0xF, 0xF000_0000_0000_0000]),
  ]

  private let context: OpaquePointer

  init() throws { context = try #require(BN_CTX_new()) }

  /// Compares with OpenSSL.
  ///
  /// - Returns: whether there is an inverse.
  private func check(
    _ number: [UInt64], _ modulus: [UInt64], _ inverse: ModularInverse,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Bool {
    let m = try bigNumber(modulus)
    let expected = BN_new()
    let found = inverse.inverse(of: words(number))
    var numbers = [m, try bigNumber(number), try #require(expected)]
    defer { numbers.forEach { BN_free($0) } }
    let exists = BN_mod_inverse(expected, numbers[1], m, context) != nil
    ERR_clear_error()
    #expect((found != nil) == exists, "\(number)", sourceLocation: sourceLocation)
    guard let found, exists else { return exists }
    let proposed = try bigNumber((0..<5).map { found[$0] })
    let quotient = try #require(BN_new())
    let rest = try #require(BN_new())
    numbers += [proposed, quotient, rest]
    try #require(BN_div(quotient, rest, proposed, m, context) == 1)
    #expect(BN_cmp(rest, expected) == 0, "\(number)", sourceLocation: sourceLocation)
    #expect(BN_num_bits(quotient) <= 5, "\(number)", sourceLocation: sourceLocation)
    return true
  }

  private func bigNumber(_ words: [UInt64]) throws -> OpaquePointer {
    let bytes = words.flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
    return try #require(BN_lebin2bn(bytes, Int32(bytes.count), nil))
  }

  private func words(_ numbers: [UInt64]) -> Words { Words { numbers[$0] } }

  /// The number less a small one.
  private func less(_ number: [UInt64], _ small: UInt64) -> [UInt64] {
    var number = number
    var borrow = small
    for index in number.indices {
      let (difference, borrows) = number[index].subtractingReportingOverflow(borrow)
      number[index] = difference
      borrow = borrows ? 1 : 0
    }
    return number
  }

  @Test(arguments: moduli)
  func `numbers at the limits`(name: String, modulus: [UInt64]) throws {
    let inverse = ModularInverse(modulus: words(modulus))
    var numbers: [[UInt64]] = (UInt64(1)...64).flatMap { [[$0, 0, 0, 0], less(modulus, $0)] }
    // Single bits, runs of ones, and numbers with a run of zeros at their end.
    for bit in 0..<255 {
      var number: [UInt64] = [0, 0, 0, 0]
      number[bit / 64] = 1 << UInt64(bit % 64)
      numbers.append(number)
      numbers.append(less(number, 1))
      numbers.append(zip(number, less(modulus, 1)).map { $1 & ~($0 &- 1) })
    }
    for pattern in [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0F0F_0F0F_0F0F_0F0F] as [UInt64]
    {
      numbers.append([pattern, pattern, pattern, pattern])
    }
    var count = 0
    for number in numbers where number.contains(where: { $0 != 0 }) {
      count += try check(number, modulus, inverse) ? 1 : 0
    }
    #expect(count > 300)
  }

  @Test(arguments: moduli)
  func `random numbers`(name: String, modulus: [UInt64]) throws {
    let inverse = ModularInverse(modulus: words(modulus))
    var random = SeededRandom(for: "inverses modulo \(name)")
    var count = 0
    for _ in 0..<3_000 {
      // Of any length, and below the modulus.
      let length = Int.random(in: 1...256, using: &random)
      let number = (0..<4).map { word -> UInt64 in
        let bits = min(max(length - 64 * word, 0), 64)
        guard bits > 0 else { return 0 }
        return UInt64.random(in: .min ... .max, using: &random) >> UInt64(64 - bits)
      }
      let top = number[3] % modulus[3]
      count += try check(Array(number[..<3]) + [top], modulus, inverse) ? 1 : 0
    }
    #expect(count > 1_000)
  }

  @Test(arguments: moduli)
  func `zero has none`(name: String, modulus: [UInt64]) {
    #expect(ModularInverse(modulus: words(modulus)).inverse(of: [0, 0, 0, 0]) == nil)
  }
}
