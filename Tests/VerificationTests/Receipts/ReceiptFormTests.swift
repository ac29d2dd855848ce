import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing
import Verification

@Suite("The forms of a receipt")
struct ReceiptFormTests {
  @Test func `base64 may be broken into lines`() throws {
    let der = try ReceiptWorkshop.sign()
    let text = Base64Form.standard.encode(der)
    let lines = stride(from: 0, to: text.count, by: 64).map { text[$0..<min($0 + 64, text.count)] }
    let forms: [[UInt8]] = [
      der, text, text + [UInt8(ascii: "\n")], Array("\r\n\t ".utf8) + text,
      Array(lines.joined(separator: "\n".utf8)), Array(lines.joined(separator: "\r\n".utf8)),
      Array(text.map { [$0] }.joined(separator: " ".utf8)),
    ]
    for form in forms {
      if form.count <= VerificationLimits.receiptTextLength {
        #expect(verdict(ReceiptWorkshop.verifier, form) == .ok)
        #expect(ReceiptForm.isReceipt(form))
      }
    }
  }

  @Test func `other base64 is refused`() throws {
    let text = Base64Form.standard.encode(try ReceiptWorkshop.sign())
    let url = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 }
    let forms: [[UInt8]] = [
      text + [UInt8(ascii: "=")], text.dropLast(), [UInt8(ascii: "!")] + text,
      Array("data:;base64,".utf8) + text, url, text + text, [0xEF, 0xBB, 0xBF] + text,
      Array("\"".utf8) + text + Array("\"".utf8), [],
    ]
    for form in forms where form != text {
      #expect(verdict(ReceiptWorkshop.verifier, form) == .malformed)
    }
  }

  @Test(
    arguments: [
      ("eyJhbGciOiJFUzI1NiJ9.e30.AA", false), ("{\"status\":0}", false), ("", false), ("M", false),
      ("MI", true), (" \r\n MIIT", true), ("0123", false), ("0\u{80}", false), ("MA==", false),
    ])
  func `receipts are detected by their first bytes`(text: String, isReceipt: Bool) {
    #expect(ReceiptForm.isReceipt(Array(text.utf8)) == isReceipt)
  }

  @Test func `a receipt can be looked at without being believed`() throws {
    let twin = try ReceiptWorkshop.sign(by: ReceiptWorkshop.twin)
    var tree = MessageTree(twin)
    tree.signer[4].value[0] ^= 1
    let inspected = try InspectedReceipt(tree.encoded)
    #expect(inspected.receipt.bundleID == "com.example.scribe")
    #expect(inspected.receipt.items.count == 1)
    #expect(inspected.certificates.count == 3)
    #expect(inspected.digestAlgorithm == "SHA-256")
    #expect(
      Set(inspected.certificates.map(\.fingerprint))
        .contains(ReceiptWorkshop.twin.rootFingerprint))

    tree.certificates[0] = .empty(0x30)
    #expect(try InspectedReceipt(tree.encoded).certificates.isEmpty)
    tree.certificates = []
    #expect(try InspectedReceipt(tree.encoded).certificates.isEmpty)
    #expect(throws: Refusal.self) { try InspectedReceipt(Array("eyJ".utf8)) }
    let content = try ReceiptWorkshop.authority.sign(content: [0x31, 0x00])
    #expect(throws: Refusal.self) { try InspectedReceipt(content) }
  }
}
