import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("The signature's form")
struct SignatureFormTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  private static let dot = UInt8(ascii: ".")
  /// The order of P-256 (SEC 2, section 2.4.2), big-endian.
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]
  private static let zero = [UInt8](repeating: 0, count: 32)

  private struct Signed {
    let message: ArraySlice<UInt8>
    let signature: [UInt8]
  }

  private func signed() throws -> Signed {
    let jws = try workshop.sign(.transaction())
    let end = try #require(jws.lastIndex(of: Self.dot))
    return Signed(
      message: jws[..<end],
      signature: try Base64Form.urlWithoutPadding.decode(jws[(end + 1)...]))
  }

  private func verdict(_ message: ArraySlice<UInt8>, _ signature: [UInt8]) -> Verdict {
    VerificationTests.verdict(
      verifier, message + [Self.dot] + Base64Form.urlWithoutPadding.encode(signature))
  }

  /// n - value.
  private func complement(_ value: [UInt8]) -> [UInt8] {
    var result = Self.zero
    var borrow = 0
    for index in (0..<32).reversed() {
      let difference = Int(Self.order[index]) - Int(value[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      result[index] = UInt8(difference + borrow * 256)
    }
    return result
  }

  private func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8]? {
    var result = Self.zero
    var carry = 0
    for index in (0..<32).reversed() {
      let digit = Int(left[index]) + Int(right[index]) + carry
      result[index] = UInt8(digit & 255)
      carry = digit >> 8
    }
    return carry == 0 ? result : nil
  }

  @Test func `r and s are between 1 and n - 1`() throws {
    let signed = try signed()
    let (r, s) = (Array(signed.signature[..<32]), Array(signed.signature[32...]))
    let last = complement(Array(Self.zero.dropLast()) + [1])
    let all = [UInt8](repeating: 0xFF, count: 32)
    #expect(verdict(signed.message, r + s) == .ok)
    for wrong in [Self.zero, Self.order, last, all] {
      for signature in [wrong + s, r + wrong, wrong + wrong] {
        #expect(verdict(signed.message, signature) == .invalidSignature)
      }
    }
    // The same number again, a whole order further, where 32 bytes hold it.
    for signature in [sum(r, Self.order).map { $0 + s }, sum(s, Self.order).map { r + $0 }] {
      if let signature { #expect(verdict(signed.message, signature) == .invalidSignature) }
    }
    #expect(verdict(signed.message, s + r) == .invalidSignature)
    #expect(verdict(signed.message, r + r) == .invalidSignature)
  }

  @Test func `n - s in place of s is the curve's other signature, and as good`() throws {
    let signed = try signed()
    let (r, s) = (Array(signed.signature[..<32]), Array(signed.signature[32...]))
    // RFC 7518 section 3.4 does not ask for the lower one, and the App Store signs with either.
    #expect(verdict(signed.message, r + complement(s)) == .ok)
    // It is the same fact again: a fact is named by its payload.
    #expect(complement(complement(s)) == s)
    #expect(verdict(signed.message, complement(r) + s) == .invalidSignature)
  }

  @Test func `DER in place of raw r and s is invalid`() throws {
    let signed = try signed()
    func integer(_ digits: ArraySlice<UInt8>) -> [UInt8] {
      let shortest = Array(digits.drop { $0 == 0 })
      let content = (shortest.first.map { $0 >= 0x80 } ?? true) ? [0] + shortest : shortest
      return [0x02, UInt8(content.count)] + content
    }
    let content = integer(signed.signature[..<32]) + integer(signed.signature[32...])
    #expect(verdict(signed.message, [0x30, UInt8(content.count)] + content) == .invalidSignature)
  }

  @Test func `leading zeros, or bytes more or less, are invalid`() throws {
    let signed = try signed()
    let (r, s) = (Array(signed.signature[..<32]), Array(signed.signature[32...]))
    for signature in [
      [0] + r + s, r + s + [0], [0] + r + [0] + s, Array((r + s).dropLast()),
      Array((r + s).dropFirst()), r, [0],
    ] {
      #expect(verdict(signed.message, signature) == .invalidSignature)
    }
  }

  @Test func `the signature is over the two parts as they stand`() throws {
    let signed = try signed()
    let parts = signed.message.split(separator: Self.dot)
    // The decoded payload, the payload alone, and both without the dot.
    let decoded = try Base64Form.urlWithoutPadding.decode(parts[1])
    for message in [decoded, Array(parts[1]), Array(parts[0] + parts[1])] {
      let signature = try workshop.authority.leaf.key.signature(over: message)
      #expect(verdict(signed.message, signature) == .invalidSignature)
    }
  }
}
