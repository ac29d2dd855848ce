import Cryptography
package import EntitlementDomain

/// Decides whether the App Store signed a payload, and whether it is accepted here. One verifier
/// serves all apps and environments. Immutable but for its memory; safe on any thread.
///
/// Checks come in the order of the verdicts: form, algorithm, certificates, chain, validity,
/// signature, app, environment. So a verdict about the app or the environment is one about an
/// authentic payload.
package final class JWSVerifier: Sendable {
  let anchors: TrustAnchors
  let memory = SignerMemory()

  private let judgesNow: Bool

  /// - Parameters:
  ///   - anchors: the roots that are trusted.
  ///   - judgesNow: whether certificates must be valid now, and not when the payload was signed. So
  ///     it must be where their status is asked for: issuers answer for valid certificates alone.
  package init(anchors: TrustAnchors = .apple, judgesNow: Bool = false) {
    self.anchors = anchors
    self.judgesNow = judgesNow
  }

  /// Verifies a payload, and those inside a notification, and makes facts of them.
  ///
  /// A payload without an environment is no fact of any (R9), whatever the policy asks:
  /// ``Verdict/wrongEnvironment``. To look at such payloads use
  /// ``authenticate(_:as:policy:now:)``.
  ///
  /// - Parameters:
  ///   - jws: the compact form, without white space.
  ///   - kind: what it must be; nil accepts any kind.
  ///   - now: the moment judged for a payload that does not say when it was signed, and for every one
  ///     where the verifier judges now.
  package func verify(
    _ jws: [UInt8], as kind: SignedKind? = nil, policy: VerificationPolicy, now: Milliseconds
  ) throws(Refusal) -> VerifiedPayload {
    let payload = try authenticate(jws, as: kind, policy: policy, now: now)
    return VerifiedPayload(
      content: try payload.content(), signed: payload.signed, chains: payload.chains)
  }

  /// Verifies a payload, and those inside a notification, without making facts of them.
  ///
  /// - Parameters: as of ``verify(_:as:policy:now:)``.
  package func authenticate(
    _ jws: [UInt8], as kind: SignedKind? = nil, policy: VerificationPolicy, now: Milliseconds
  ) throws(Refusal) -> AuthenticPayload {
    let parts = try CompactJWS(jws)
    let (document, fields, claims) = try read(parts.payload, as: kind)
    let known = rememberedSigner(of: parts)
    let signer = if let known { known } else { try judgedSigner(of: parts) }
    // The moment it was signed, so that what is kept can be proved long after its certificate has
    // expired.
    try signer.checkValidity(at: judgesNow ? now : claims.signedDate ?? now)
    try signer.checkSignature(of: parts)
    // Not before: the signature is what nobody else can make.
    if known == nil { memory.remember(signer) }
    try policy.check(claims, under: signer.origin)
    try signer.checkScope(of: claims)
    var inner: [AuthenticPayload] = []
    if let notification = claims.notification {
      inner = try authenticate(insideOf: notification, claims: claims, policy: policy, now: now)
    }
    return AuthenticPayload(
      claims: claims, document: document,
      // The signer's copy of the header: one for all its payloads.
      signed: SignedPayload(
        header: signer.header, payload: parts.payload, signature: parts.signature),
      fields: fields, inner: inner, chains: signer.chains(with: inner))
  }

  private func read(
    _ payload: [UInt8], as expected: SignedKind?
  ) throws(Refusal) -> (JSONDocument, PayloadFields, PayloadClaims) {
    do throws(PayloadError) {
      let document = try JSONDocument(payload)
      let fields = try document.fields()
      guard let kind = SignedKind(detecting: fields, expecting: expected) else {
        throw PayloadError(.missingField, "the fields are those of no kind that is known")
      }
      guard expected == nil || expected == kind else {
        throw PayloadError(
          .wrongType, "a \(kind.label) where a \(expected?.label ?? "") is expected")
      }
      return (document, fields, try PayloadClaims(fields, kind: kind))
    } catch {
      throw Refusal(error, in: "payload")
    }
  }

  private func rememberedSigner(of parts: CompactJWS) -> TrustedSigner? {
    parts.bytes.withUnsafeBytes { bytes in
      memory.trustedSigner(header: UnsafeRawBufferPointer(rebasing: bytes[..<parts.headerLength]))
    }
  }

  private func judgedSigner(of parts: CompactJWS) throws(Refusal) -> TrustedSigner {
    let header = parts.header
    let digest: SHA256Digest
    do {
      digest = try SHA256.digest(of: header)
    } catch {
      throw Refusal(error, as: .retryable, in: "header")
    }
    if let refusal = memory.refusal(of: digest) { throw refusal }
    do throws(Refusal) {
      return try judge(header)
    } catch {
      memory.remember(error, of: digest)
      throw error
    }
  }

  private func judge(_ segment: [UInt8]) throws(Refusal) -> TrustedSigner {
    let header = try SignerHeader(segment: segment)
    try header.checkAlgorithm()
    let chain = try CertificateChain(try header.certificates())
    let (key, origin) = try chain.trustedKey(under: anchors)
    return try TrustedSigner(header: segment, key: key, chain: chain, origin: origin)
  }

  private func authenticate(
    insideOf notification: NotificationPayload, claims outer: PayloadClaims,
    policy: VerificationPolicy, now: Milliseconds
  ) throws(Refusal) -> [AuthenticPayload] {
    var inner: [AuthenticPayload] = []
    let parts: [(kind: SignedKind, jws: [UInt8]?)] = [
      (.transaction, notification.signedTransactionInfo),
      (.renewalInfo, notification.signedRenewalInfo),
      (.appTransaction, notification.signedAppTransactionInfo),
    ]
    for part in parts {
      guard let jws = part.jws else { continue }
      do {
        // The kind is never a notification, so this nests once.
        let payload = try authenticate(jws, as: part.kind, policy: policy, now: now)
        try payload.claims.checkAgreement(with: outer)
        inner.append(payload)
      } catch {
        throw error.inside(part.kind)
      }
    }
    return inner
  }
}
