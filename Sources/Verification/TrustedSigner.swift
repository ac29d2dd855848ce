import Cryptography
import EntitlementDomain

/// A header whose certificates lead to a trusted root: what every payload with the same header can
/// use again.
final class TrustedSigner: Sendable {
  /// The header segment as it came, base64url.
  let header: [UInt8]
  let key: VerifyingKey
  let origin: TrustAnchors.Origin
  private let leaf: ClosedRange<Int64>
  private let intermediate: ClosedRange<Int64>
  private let root: ClosedRange<Int64>

  init(
    header: [UInt8], key: VerifyingKey, chain: CertificateChain, origin: TrustAnchors.Origin
  ) {
    self.header = header
    self.key = key
    self.origin = origin
    leaf = chain.leaf.validity
    intermediate = chain.intermediate.validity
    root = chain.root.validity
  }

  /// - Throws: ``Refusal`` with ``Verdict/certificateExpired`` unless all three certificates were
  ///   valid at `moment`.
  func checkValidity(at moment: Milliseconds) throws(Refusal) {
    for (validity, name) in [(leaf, "leaf"), (intermediate, "intermediate"), (root, "root")] {
      guard moment.rawValue >= validity.lowerBound else {
        throw Refusal(.certificateExpired, "the \(name) certificate was not valid yet")
      }
      guard moment.rawValue <= validity.upperBound else {
        throw Refusal(.certificateExpired, "the \(name) certificate was no longer valid")
      }
    }
  }
}
