import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

/// What stands around the content of a receipt, wrong in one respect.
@Suite("The message that holds a receipt")
struct ReceiptMessageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let verdict: Verdict
    let alter: @Sendable (inout MessageTree) -> Void

    init(
      _ name: String, _ verdict: Verdict, _ alter: @escaping @Sendable (inout MessageTree) -> Void
    ) {
      self.name = name
      self.verdict = verdict
      self.alter = alter
    }

    var testDescription: String { name }
  }

  private static let md5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05]
  private static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
  private static let sha512: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03]
  private static let pss: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]
  private static let rsaWithSHA1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05]
  private static let enveloped: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x03]

  static let cases: [Case] = [
    Case("another type of message", .malformed) {
      $0.root.children[0] = DERNode(0x06, enveloped)
    },
    Case("another type of content", .malformed) {
      $0.content.children[0] = DERNode(0x06, enveloped)
    },
    Case("no content", .malformed) { $0.content.children.removeLast() },
    Case("content in pieces", .malformed) {
      $0.content.children[1].children[0] = DERNode(
        0x24, [.octets($0.content.children[1].children[0].value)])
    },
    Case("content twice", .malformed) {
      $0.content.children[1].children.append($0.content.children[1].children[0])
    },
    Case("content that is no octet string", .malformed) {
      $0.content.children[1].children[0].tag = 0x03
    },
    Case("another version", .malformed) { $0.signedData[0] = .integer(3) },
    Case("another version of the signer", .malformed) { $0.signer[0] = .integer(3) },
    Case("no signer", .malformed) { $0.signers = [] },
    Case("two signers", .malformed) { $0.signers += $0.signers },
    Case("a signer named by its key", .malformed) { $0.signer[1] = DERNode(0x80, [1, 2, 3]) },
    Case("revocation lists", .malformed) {
      $0.signedData.insert(.empty(0xA1), at: 4)
    },
    Case("unsigned attributes", .malformed) { $0.signer.append(.empty(0xA1)) },
    Case("no signature", .malformed) { $0.signer.removeLast() },
    Case("something after the message", .malformed) { $0.root.children.append(.integer(1)) },
    Case("something after the signed data", .malformed) {
      $0.root.children[1].children.append(.integer(1))
    },
    Case("no hash functions", .malformed) { $0.algorithms.children = [] },
    Case("two hash functions", .malformed) { $0.algorithms.children += $0.algorithms.children },
    Case("an octet string as certificate", .malformed) { $0.certificates[0] = .octets([1]) },
    Case("a hash function that is not the signer's", .unsupportedAlgorithm) {
      $0.algorithms.children[0].children[0] = DERNode(0x06, sha1)
    },
    Case("MD5", .unsupportedAlgorithm) {
      $0.algorithms.children[0].children[0] = DERNode(0x06, md5)
      $0.signer[2].children[0] = DERNode(0x06, md5)
    },
    Case("SHA-512", .unsupportedAlgorithm) {
      $0.algorithms.children[0].children[0] = DERNode(0x06, sha512)
      $0.signer[2].children[0] = DERNode(0x06, sha512)
    },
    Case("a hash function with parameters", .unsupportedAlgorithm) {
      $0.signer[2].children = [$0.signer[2].children[0], .integer(1)]
    },
    Case("RSA with PSS", .unsupportedAlgorithm) { $0.signer[3].children[0] = DERNode(0x06, pss) },
    Case("RSA with another hash function", .unsupportedAlgorithm) {
      $0.signer[3].children[0] = DERNode(0x06, rsaWithSHA1)
    },
    Case("RSA with parameters", .unsupportedAlgorithm) {
      $0.signer[3].children = [$0.signer[3].children[0], .integer(1)]
    },
    Case("attributes that are signed instead", .unsupportedAlgorithm) {
      $0.signer.insert(DERNode(0xA0, [.integer(1)]), at: 3)
    },
    Case("no certificates", .invalidCertificate) { $0.certificates = [] },
    Case("no list of certificates", .invalidCertificate) { $0.signedData.remove(at: 3) },
    Case("nine certificates", .invalidCertificate) {
      $0.certificates = Array(repeating: $0.certificates[0], count: 9)
    },
    Case("a certificate that is none", .invalidCertificate) {
      $0.certificates[0] = DERNode(0x30, [.integer(1)])
    },
    Case("a signer without a certificate", .invalidCertificate) {
      $0.signer[1].children[1] = .integer(123_456)
    },
    Case("a signature of zeros", .invalidSignature) {
      $0.signer[4] = .octets(Array(repeating: 0, count: 256))
    },
    Case("a signature above the modulus", .invalidSignature) {
      $0.signer[4] = .octets(Array(repeating: 0xFF, count: 256))
    },
    Case("an empty signature", .invalidSignature) { $0.signer[4] = .octets([]) },
    Case("a signature with a byte before it", .invalidSignature) {
      $0.signer[4] = .octets([0] + $0.signer[4].value)
    },
    Case("content that is empty", .invalidSignature) {
      $0.content.children[1].children[0] = .octets([])
    },
    Case("content that is no DER", .invalidSignature) {
      $0.content.children[1].children[0] = .octets([0x31, 0x80])
    },
    Case("another date", .invalidSignature) {
      let content = ReceiptWorkshop.content.with(.date(12, "1999-01-01T00:00:00Z"))
      $0.content.children[1].children[0] = .octets(content.encoded)
    },
    Case("another app", .invalidSignature) {
      let content = ReceiptWorkshop.content.with(.text(2, "com.example.other"))
      $0.content.children[1].children[0] = .octets(content.encoded)
    },
  ]

  @Test(arguments: cases)
  func `each has the verdict of its cause`(given: Case) throws {
    let receipt = try ReceiptWorkshop.altered(given.alter)
    let fresh = ReceiptWorkshop.verifier
    #expect(verdict(fresh, receipt) == given.verdict, "\(refusal(fresh, receipt)?.detail ?? "")")
    #expect(fresh.cache.count == 0)
    // The same when the signer is known.
    let experienced = ReceiptWorkshop.verifier
    #expect(verdict(experienced, try ReceiptWorkshop.sign()) == .ok)
    #expect(verdict(experienced, receipt) == given.verdict)
    #expect(verdict(experienced, try ReceiptWorkshop.sign()) == .ok)
  }

  @Test func `NULL as parameters of an algorithm is as good as none`() throws {
    let variants: [[DERNode]] = [[], [.empty(0x05)]]
    for parameters in variants {
      let receipt = try ReceiptWorkshop.altered {
        $0.algorithms.children[0].children = [$0.algorithms.children[0].children[0]] + parameters
        $0.signer[2].children = [$0.signer[2].children[0]] + parameters
        $0.signer[3].children = [$0.signer[3].children[0]] + parameters
      }
      #expect(verdict(ReceiptWorkshop.verifier, receipt) == .ok)
    }
  }

  @Test(arguments: ReceiptAuthority.Digest.allCases)
  func `both hash functions are accepted`(digest: ReceiptAuthority.Digest) throws {
    let receipt = try ReceiptWorkshop.sign(digest: digest)
    let verifier = ReceiptWorkshop.verifier
    #expect(verdict(verifier, receipt) == .ok)
    #expect(verdict(verifier, receipt) == .ok)
    #expect(
      try InspectedReceipt(receipt).digestAlgorithm == (digest == .sha1 ? "SHA-1" : "SHA-256"))
  }

  @Test func `the name of the hash function that a signer names in digits`() throws {
    let receipt = try ReceiptWorkshop.altered {
      $0.signer[2].children[0] = DERNode(0x06, Self.md5)
    }
    #expect(try InspectedReceipt(receipt).digestAlgorithm == "1.2.840.113549.2.5")
  }
}
