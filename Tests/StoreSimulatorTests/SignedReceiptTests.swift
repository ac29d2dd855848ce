import Cryptography
import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("Signed receipts")
struct SignedReceiptTests {
  static let authority = Result { try ReceiptAuthority.generate() }
  /// 2025-11-21 15:37 UTC.
  static let now: Milliseconds = 1_763_739_420_000

  static func receipt(itemCount: Int = 3) -> SimulatedReceipt {
    .ofLongHistory(itemCount: itemCount, creationDate: now)
  }

  @Test(
    "The openssl program verifies them under their root and returns the content",
    .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"),
    arguments: ReceiptAuthority.Digest.allCases, [0, 3, 187])
  func openSSL(digest: ReceiptAuthority.Digest, itemCount: Int) throws {
    let authority = try Self.authority.get()
    let receipt = Self.receipt(itemCount: itemCount)
    let signed = try authority.sign(receipt, digest: digest)
    let verdict = try Self.verify(signed, root: authority)
    #expect(verdict.code == 0, "\(verdict.errors)")
    #expect(verdict.content == (try receipt.content()))
    // Under another root, or with one bit of the content changed, it does not.
    #expect(try Self.verify(signed, root: ReceiptAuthority.generate()).code != 0)
    var altered = signed
    altered[100] ^= 1
    #expect(try Self.verify(altered, root: authority).code != 0)
  }

  @Test(
    "The message is of the form that the App Store's receipts have",
    arguments: [
      (
        ReceiptAuthority.Digest.sha256,
        [UInt8]([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
      ),
      (.sha1, [0x2b, 0x0e, 0x03, 0x02, 0x1a]),
    ])
  func message(digest: ReceiptAuthority.Digest, identifier: [UInt8]) throws {
    let authority = try Self.authority.get()
    let tree = try ReceiptTree(try authority.sign(Self.receipt(), digest: digest))
    let parts = tree.message.children
    #expect(parts.map(\.tag) == [0x02, 0x31, 0x30, 0xa0, 0x31])
    #expect(parts[0].number == 1)
    #expect(parts[1].children.map { $0.children[0].contents } == [identifier])
    let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
    #expect(parts[2].children[0].contents == data)
    #expect(parts[3].children.count == 3)
    // One signer: version, issuer and serial number, digest, RSA, signature; no signed attributes.
    try #require(parts[4].children.count == 1)
    let signer = parts[4].children[0].children
    #expect(signer.map(\.tag) == [0x02, 0x30, 0x30, 0x30, 0x04])
    #expect(signer[0].number == 1)
    #expect(signer[2].children[0].contents == identifier)
    let rsa: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    #expect(signer[3].children[0].contents == rsa)
    #expect(signer[4].contents.count == 256)
  }

  @Test("The embedded certificates can be chosen")
  func embedding() throws {
    let authority = try Self.authority.get()
    let content = try Self.receipt().content()
    let signed = try authority.sign(content: content, embedding: [authority.leaf.certificate])
    let tree = try ReceiptTree(signed)
    #expect(tree.message.children[3].children.count == 1)
    #expect(tree.content == content)
    // Any content may be signed, also none.
    #expect(try DERTree(try authority.sign(content: [])).tag == 0x30)
  }

  @Test("The same receipt gives the same bytes, another seed or time gives other bytes")
  func determinism() throws {
    let authority = try Self.authority.get()
    let first = SimulatedReceipt(creationDate: Self.now, seed: 7)
    #expect(first == SimulatedReceipt(creationDate: Self.now, seed: 7))
    #expect(try authority.sign(first) == authority.sign(first))
    let later = SimulatedReceipt(
      creationDate: Self.now.advanced(by: Milliseconds.secondsLength), seed: 7)
    #expect(later.deviceIdentifier == first.deviceIdentifier)
    #expect(later.opaqueValue != first.opaqueValue)
    #expect(
      SimulatedReceipt(creationDate: Self.now, seed: 8).deviceIdentifier
        != first.deviceIdentifier)
  }

  @Test("187 purchases are 80 kB")
  func size() throws {
    let signed = try Self.authority.get().sign(Self.receipt(itemCount: 187))
    #expect((76_000...84_000).contains(signed.count), "\(signed.count) bytes")
    #expect(try ReceiptTree(signed).items().count == 187)
  }

  @Test(
    "Attributes have the numbers, versions and encodings of the App Store's receipts",
    .enabled(if: AppleSamples.arePresent, "the folder of Apple-signed samples is absent"))
  func structure() throws {
    let real = try AppleSamples.receipts.map { try ReceiptTree(try $0.contents()) }
    #expect(real.count == 14)
    var receipt = Self.receipt()
    receipt.items[0].expiresDate = nil
    let ours = try ReceiptTree(try Self.authority.get().sign(receipt))
    // Attributes of all of Apple's receipts are in ours, and ours have no attribute that none of
    // Apple's has.
    let always = real.map { Set($0.attributes.map(\.type)) }.reduce(nil as Set<Int64>?) {
      $0?.intersection($1) ?? $1
    }
    let types = Set(ours.attributes.map(\.type))
    #expect(types.isSuperset(of: always ?? []))
    #expect(
      Self.forms(of: real.flatMap(\.attributes)).isSuperset(of: Self.forms(of: ours.attributes)))

    let realItems = try real.flatMap { try $0.items() }
    let items = try ours.items()
    #expect(realItems.count == 55 && items.count == 3)
    let alwaysInItems = realItems.map { Set($0.map(\.type)) }.reduce(nil as Set<Int64>?) {
      $0?.intersection($1) ?? $1
    }
    for item in items {
      #expect(Set(item.map(\.type)).isSuperset(of: alwaysInItems ?? []))
      #expect(Self.forms(of: realItems.flatMap(\.self)).isSuperset(of: Self.forms(of: item)))
    }
    // Short attributes come first, in theirs and in ours.
    for attributes in real.map(\.attributes) + [ours.attributes] + realItems + items {
      #expect(attributes.map(\.length) == attributes.map(\.length).sorted())
    }
  }

  /// An attribute's number, version and the tag of its value; the length of what is not DER.
  private struct Form: Hashable {
    let type: Int64
    let version: Int64
    let tag: UInt8?
    let length: Int?
  }

  private static func forms(of attributes: [ReceiptTree.Attribute]) -> Set<Form> {
    Set(
      attributes.map { attribute in
        // 4 and 5 are bytes of a fixed length; 6 and 7 any.
        switch attribute.type {
        case 4, 5:
          Form(
            type: attribute.type, version: attribute.version, tag: nil,
            length: attribute.value.count)
        case 6, 7: Form(type: attribute.type, version: attribute.version, tag: nil, length: nil)
        default:
          Form(
            type: attribute.type, version: attribute.version, tag: attribute.value.first,
            length: nil)
        }
      })
  }

  private static func verify(
    _ receipt: [UInt8], root: ReceiptAuthority
  ) throws -> (code: Int32, errors: String, content: [UInt8]) {
    let directory = try TemporaryDirectory()
    let place = { (name: String) in "\(directory.path)/\(name)" }
    try Data(receipt).write(to: URL(filePath: place("receipt")))
    try Data(try root.rootPEM()).write(to: URL(filePath: place("root.pem")))
    let run = try OpenSSLProgram.run([
      "cms", "-verify", "-inform", "DER", "-in", place("receipt"), "-CAfile", place("root.pem"),
      "-no-CApath", "-no-CAstore", "-purpose", "any", "-attime",
      String(now.rawValue / Milliseconds.secondsLength), "-binary", "-out", place("content"),
    ])
    let content = FileManager.default.contents(atPath: place("content")) ?? Data()
    return (run.code, run.errors, Array(content))
  }
}
