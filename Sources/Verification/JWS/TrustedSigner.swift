import Cryptography
import EntitlementDomain

/// A header whose certificates lead to a trusted root: what every payload with the same header can
/// use again.
final class TrustedSigner: Sendable {
  /// The header segment as it came, base64url.
  let header: [UInt8]
  /// The same, hashed: what every message of this signer begins with.
  private let hashedHeader: SHA256.Beginning
  let key: VerifyingKey
  let chain: CertificateChain
  /// ``chain`` alone, as its payloads carry it: one array for all of them.
  let chains: [CertificateChain]
  let origin: TrustAnchors.Origin
  /// When all of its certificates are valid; nil for never.
  private let validity: ClosedRange<Int64>?

  /// - Throws: ``Refusal`` with ``Verdict/retryable`` only.
  init(
    header: [UInt8], key: VerifyingKey, chain: CertificateChain, origin: TrustAnchors.Origin
  ) throws(Refusal) {
    self.header = header
    do {
      hashedHeader = try SHA256.Beginning(header)
    } catch {
      throw Refusal(error, as: .retryable, in: "header")
    }
    self.key = key
    self.chain = chain
    chains = [chain]
    self.origin = origin
    // A chain has one certificate at least.
    let first = chain.certificates.map(\.validity.lowerBound).max() ?? .max
    let last = chain.certificates.map(\.validity.upperBound).min() ?? .min
    validity = first <= last ? first...last : nil
  }

  /// The chains that vouch for a payload of this signer with others inside it, each once.
  func chains(with inner: [AuthenticPayload]) -> [CertificateChain] {
    inner.reduce(into: chains) { chains, payload in
      // Nearly always the same signer's.
      for chain in payload.chains where !chains.contains(chain) { chains.append(chain) }
    }
  }

  /// - Parameter parts: a JWS with this very header: it is not hashed again.
  /// - Throws: ``Refusal`` with ``Verdict/invalidSignature``, or ``Verdict/retryable``.
  func checkSignature(of parts: CompactJWS) throws(Refusal) {
    guard parts.signature.count == VerifyingKey.signatureLength else {
      throw Refusal(
        .invalidSignature, "the signature does not have \(VerifyingKey.signatureLength) bytes")
    }
    let isValid: Bool
    do {
      let digest = try parts.withSignedRest { (rest) throws(CryptographyError) in
        try hashedHeader.digest(followedBy: rest)
      }
      isValid = try key.isValidSignature(parts.signature, ofDigest: digest)
    } catch {
      throw Refusal(error, as: .retryable, in: "signature")
    }
    guard isValid else {
      throw Refusal(.invalidSignature, "the signature is not the leaf certificate's")
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/certificateExpired`` unless all certificates were valid at
  ///   `moment`.
  func checkValidity(at moment: Milliseconds) throws(Refusal) {
    if let validity, validity.contains(moment.rawValue) { return }
    // Says which one was not.
    try chain.checkValidity(at: moment)
  }

  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` when a root alone signed for more than
  ///   a developer's machine (R9).
  func checkScope(of claims: PayloadClaims) throws(Refusal) {
    guard chain.isRootAlone else { return }
    switch claims.environment {
    case .known(.xcode), .known(.localTesting): break
    case .known, .absent, .unknown:
      throw Refusal(
        .wrongEnvironment, "a certificate alone is accepted for Xcode and LocalTesting only")
    }
  }
}
