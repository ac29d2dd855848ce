import EntitlementDomain
import StoreSimulator
import Verification

/// A simulated App Store whose receipts the fuzzed verifier trusts, like ``FuzzSigner`` for JWS.
struct FuzzReceiptSigner: Sendable {
  /// Fuzzing needs keys, so a failure to generate them may trap.
  static let shared = FuzzReceiptSigner(
    authority: try! ReceiptAuthority.generate(), xcode: try! XcodeAuthority.generate())

  let authority: ReceiptAuthority
  /// Signs in the form of Xcode.
  let xcode: XcodeAuthority
  let verifier: ReceiptVerifier
  let policy = VerificationPolicy(
    expectingBundleID: nil, environment: nil, appAppleID: nil)
  /// A valid receipt, to be changed.
  let genuine: [UInt8]

  init(authority: ReceiptAuthority, xcode: XcodeAuthority) {
    self.authority = authority
    self.xcode = xcode
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    anchors.trust(xcode.receiptFingerprint, for: [.xcode, .localTesting])
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
