import Cryptography
import EntitlementDomain
import StoreSimulator
import Verification

/// Receipts of a simulated App Store, right and wrong.
enum ReceiptWorkshop {
  /// One authority for all tests: making keys takes time.
  // A failure to make keys is a failure of every test.
  static let authority = try! ReceiptAuthority.generate()
  /// Another one whose certificates have the very same names.
  // As above: without it, tests fail in any case.
  static let twin = try! ReceiptAuthority.generate()

  /// 2024-01-01T00:00:00Z.
  static let creationDate: Milliseconds = 1_704_067_200_000

  static var anchors: TrustAnchors { anchors(trusting: authority) }

  static func anchors(trusting authorities: ReceiptAuthority...) -> TrustAnchors {
    var anchors = TrustAnchors.apple
    for authority in authorities {
      anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    }
    return anchors
  }

  static var verifier: ReceiptVerifier { ReceiptVerifier(anchors: anchors) }

  /// Small: the three required attributes, two more, and one purchase.
  static var content: ReceiptContent {
    ReceiptContent([
      .text(0, "ProductionSandbox"), .text(2, "com.example.scribe"), .text(3, "42"),
      .date(12, "2024-01-01T00:00:00Z"), .text(19, "1.0"), .purchase(purchase),
    ])
  }

  static var purchase: ReceiptContent {
    ReceiptContent([
      .integer(1_701, 1), .text(1_702, "com.example.scribe.pro.monthly"),
      .text(1_703, "2000000123456790"), .text(1_705, "2000000123456789"),
      .date(1_704, "2023-12-31T05:20:00Z"), .date(1_708, "2024-01-31T05:20:00Z"),
    ])
  }

  static func sign(
    _ content: ReceiptContent = content, digest: ReceiptAuthority.Digest = .sha256,
    by authority: ReceiptAuthority = authority
  ) throws -> [UInt8] {
    try authority.sign(content: content.encoded, digest: digest)
  }

  /// A receipt that was altered after it was signed.
  static func altered(_ alter: (inout MessageTree) -> Void) throws -> [UInt8] {
    var tree = MessageTree(try sign())
    alter(&tree)
    return tree.encoded
  }
}

/// The verdict alone.
func verdict(
  _ verifier: ReceiptVerifier, _ receipt: [UInt8], policy: VerificationPolicy = .scribe,
  device: [UInt8]? = nil
) -> Verdict {
  refusal(verifier, receipt, policy: policy, device: device)?.verdict ?? .ok
}

/// Nil when the receipt is accepted.
func refusal(
  _ verifier: ReceiptVerifier, _ receipt: [UInt8], policy: VerificationPolicy = .scribe,
  device: [UInt8]? = nil
) -> Refusal? {
  do {
    _ = try verifier.verify(receipt, policy: policy, deviceIdentifier: device)
    return nil
  } catch {
    return error
  }
}
