import EntitlementDomain
import Verification

/// Verifies what files hold, payloads and receipts, without a server.
struct SourceVerifier {
  enum Verified {
    case payload(VerifiedPayload)
    case receipt
  }

  let payloads: JWSVerifier
  let receipts: ReceiptVerifier
  /// The device that receipts must have been made for; nil for any.
  let deviceIdentifier: [UInt8]?
  /// The moment judged for payloads that do not say when they were signed.
  let now: Milliseconds

  func verify(
    _ finding: SourcedFinding, policy: VerificationPolicy
  ) -> Result<Verified, Refusal> {
    do throws(Refusal) {
      switch try finding.content.get() {
      case .jws(let bytes):
        return .success(.payload(try payloads.verify(bytes, policy: policy, now: now)))
      case .receipt(let bytes):
        let receipt = try receipts.verify(
          bytes, policy: policy, deviceIdentifier: deviceIdentifier)
        // A purchase that cannot be read would be refused by a server: one of them is enough here.
        for fact in receipt.facts { _ = try fact.get() }
        return .success(.receipt)
      case .archivedResponse:
        throw Refusal(
          .malformed,
          "an archived response of verifyReceipt: nobody signed it, so there is nothing to verify")
      }
    } catch {
      return .failure(error)
    }
  }
}
