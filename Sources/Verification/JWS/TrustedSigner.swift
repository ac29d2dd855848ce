import Cryptography
import EntitlementDomain
import Synchronization

/// A JWS header with a trusted certificate chain, reused for all payloads with the same header.
final class TrustedSigner: Sendable {
  /// The header segment in base64url, as received.
  let header: [UInt8]
  /// The hash state after the header, which every signing input of this signer starts with.
  private let hashedHeader: SHA256.Prefix
  let key: VerifyingKey
  let chain: CertificateChain
  /// ``chain`` as an array, shared by all payloads.
  let chains: [CertificateChain]
  let anchor: TrustAnchor
  /// The period in which all certificates are valid; nil if there is none.
  private let validity: ClosedRange<Int64>?
  private let verifications = Atomic<Int>(0)
  /// The machine that signs itself (R94); nil for a chain of three certificates.
  let machine: SigningMachine?

  /// - Throws: ``Refusal`` with ``Verdict/retryable`` only.
  init(
    header: [UInt8], key: VerifyingKey, chain: CertificateChain, anchor: TrustAnchor
  ) throws(Refusal) {
    self.header = header
    do {
      hashedHeader = try SHA256.Prefix(header)
    } catch {
      throw Refusal(error, as: .retryable, in: "header")
    }
    self.key = key
    self.chain = chain
    chains = [chain]
    self.anchor = anchor
    machine = chain.machine
    // A chain has at least one certificate.
    let first = chain.certificates.map(\.validity.lowerBound).max() ?? .max
    let last = chain.certificates.map(\.validity.upperBound).min() ?? .min
    validity = first <= last ? first...last : nil
  }

  /// Number of signatures that were valid.
  var verificationCount: Int { verifications.load(ordering: .relaxed) }

  /// Counts a valid signature.
  ///
  /// - Returns: ``verificationCount`` with this one.
  func countVerification() -> Int {
    verifications.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// The chains of a payload of this signer and of its inner payloads, without duplicates.
  func chains(with inner: [AuthenticPayload]) -> [CertificateChain] {
    inner.reduce(into: chains) { chains, payload in
      // Nearly always the same chain.
      for chain in payload.chains where !chains.contains(chain) { chains.append(chain) }
    }
  }

  /// - Parameter parts: a JWS with this header. The header is not hashed again.
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

  /// - Throws: ``Refusal`` with ``Verdict/certificateExpired`` unless all certificates were valid
  ///   at `moment`.
  func checkValidity(at moment: Milliseconds) throws(Refusal) {
    if let validity, validity.contains(moment.rawValue) { return }
    // Reports which certificate was not valid.
    try chain.checkValidity(at: moment)
  }

  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` when a single root signed for an
  ///   environment of the App Store (R9).
  func checkScope(of claims: PayloadClaims) throws(Refusal) {
    guard chain.isSingleRoot else { return }
    guard case .known(let environment) = claims.environment, environment.isLocal else {
      throw Refusal(
        .wrongEnvironment, "a single certificate is accepted for Xcode and LocalTesting only")
    }
  }
}
