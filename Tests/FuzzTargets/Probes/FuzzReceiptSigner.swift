import EntitlementDomain
import StoreSimulator
import Verification

/// A simulated App Store whose receipts the fuzzed verifier trusts, like ``FuzzSigner`` for JWS.
struct FuzzReceiptSigner: Sendable {
  /// Fuzzing needs keys, so a failure to generate them may trap.
  static let shared = FuzzReceiptSigner(authority: try! ReceiptAuthority.generate())

  let authority: ReceiptAuthority
  let verifier: ReceiptVerifier
  let policy = VerificationPolicy(
    expectingBundleID: nil, environment: nil, appAppleID: nil)
  /// A valid receipt, to be changed.
  let genuine: [UInt8]

  init(authority: ReceiptAuthority) {
    self.authority = authority
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    verifier = ReceiptVerifier(anchors: anchors)
    let receipt = SimulatedReceipt.ofLongHistory(itemCount: 3, creationDate: FuzzSigner.now)
    genuine = (try? authority.sign(receipt)) ?? []
  }

  func outcome(
    of receipt: [UInt8], deviceIdentifier: [UInt8]? = nil
  ) -> Result<VerifiedReceipt, Refusal> {
    Result { () throws(Refusal) in
      try verifier.verify(receipt, policy: policy, deviceIdentifier: deviceIdentifier)
    }
  }
}
