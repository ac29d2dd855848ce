import AppStorePayloads
import Cryptography
package import EntitlementDomain
import JSON

/// Verifies payloads that the App Store signed as a JWS, against the trust anchors and a policy.
/// One verifier serves all apps and environments. Safe on any thread.
///
/// Order of the checks: form, algorithm, certificates, chain, validity, signature, app,
/// environment. So a verdict about the app or the environment concerns an authentic payload.
package final class JWSVerifier: Sendable {
  let anchors: TrustAnchors
  let cache = SignerCache()
  let tables = SignerTables()

  private let validatesNow: Bool

  /// - Parameters:
  ///   - anchors: the trusted roots.
  ///   - validatesNow: whether certificates must be valid now instead of when the payload was signed.
  ///     Required when certificate status is checked: issuers report only on valid certificates.
  package init(anchors: TrustAnchors = .apple, validatesNow: Bool = false) {
    self.anchors = anchors
    self.validatesNow = validatesNow
  }

  /// Verifies a payload, including the payloads inside a notification, and decodes it into facts.
  ///
  /// A payload without an environment is refused with ``Verdict/wrongEnvironment`` (R9), whatever
  /// the policy. Use ``authenticate(_:as:policy:now:)`` for such payloads.
  ///
  /// - Parameters:
  ///   - jws: the compact form, without white space.
  ///   - kind: the expected kind; nil accepts any kind.
  ///   - now: the validation time of payloads without a signing date, and of all payloads if the
  ///     verifier validates certificates at the current time.
  package func verify(
    _ jws: [UInt8], as kind: SignedKind? = nil, policy: VerificationPolicy, now: Milliseconds
  ) throws(Refusal) -> VerifiedPayload {
    let payload = try authenticate(jws, as: kind, policy: policy, now: now)
    return VerifiedPayload(
      content: try payload.content(), signed: payload.signed, chains: payload.chains)
  }

  /// Verifies a payload, including the payloads inside a notification, without decoding it into
  /// facts.
  ///
  /// - Parameters: as for ``verify(_:as:policy:now:)``.
  package func authenticate(
    _ jws: [UInt8], as kind: SignedKind? = nil, policy: VerificationPolicy, now: Milliseconds
  ) throws(Refusal) -> AuthenticPayload {
    do {
      return try checked(jws, as: kind, policy: policy, now: now)
    } catch {
      throw error.naming(jws, at: .signedPayload)
    }
  }

  private func checked(
    _ jws: [UInt8], as kind: SignedKind?, policy: VerificationPolicy, now: Milliseconds
  ) throws(Refusal) -> AuthenticPayload {
    let parts = try CompactJWS(jws)
    let (document, fields, claims) = try read(parts.payload, as: kind)
    let known = cachedSigner(of: parts)
    let signer = if let known { known } else { try validatedSigner(of: parts) }
    // The signing time is used, so that stored payloads still verify after their certificates have
    // expired.
    try signer.checkValidity(at: validatesNow ? now : claims.signedDate ?? now)
    try signer.checkSignature(of: parts)
    // Only after the signature check, so that forged input cannot enter the cache.
    if known == nil { cache.insert(signer) }
    tables.verified(by: signer)
    try policy.check(claims, under: signer.anchor)
    try signer.checkScope(of: claims)
    var inner: [AuthenticPayload] = []
    if let notification = claims.notification {
      inner = try authenticate(insideOf: notification, claims: claims, policy: policy, now: now)
    }
    return AuthenticPayload(
      claims: claims, document: document,
      // The cached copy of the header, shared by all payloads of the signer.
      signed: SignedPayload(
        header: signer.header, payload: parts.payload, signature: parts.signature),
      fields: fields, inner: inner, chains: signer.chains(with: inner),
      machine: signer.machine)
  }

  private func read(
    _ payload: [UInt8], as expected: SignedKind?
  ) throws(Refusal) -> (JSONDocument, PayloadFields, PayloadClaims) {
    do throws(PayloadError) {
      let fields = try PayloadFields(json: payload)
      guard let kind = SignedKind(detecting: fields, expecting: expected) else {
        throw PayloadError(.missingField, "the fields match no known kind")
      }
      guard expected == nil || expected == kind else {
        let place =
          expected == .notification ? "; submit it with SubmitSignedTransactions" : ""
        throw PayloadError(
          .wrongType, "expected \(expected?.label ?? ""), found \(kind.label)\(place)")
      }
      return (fields.document, fields, try PayloadClaims(fields, kind: kind))
    } catch {
      throw Refusal(error, in: "payload")
    }
  }

  /// Whether a JWS in compact form names a signer of which another payload was verified. Compares bytes, and
  /// says nothing about the signature.
  package func knowsSigner(of jws: String) -> Bool {
    var jws = jws
    return jws.withUTF8 { bytes in
      guard let dot = bytes.prefix(VerificationLimits.headerLength + 1).firstIndex(of: 0x2E) else {
        return false
      }
      return cache.contains(
        header: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<dot])))
    }
  }

  private func cachedSigner(of parts: CompactJWS) -> TrustedSigner? {
    parts.bytes.withUnsafeBytes { bytes in
      cache.trustedSigner(header: UnsafeRawBufferPointer(rebasing: bytes[..<parts.headerLength]))
    }
  }

  private func validatedSigner(of parts: CompactJWS) throws(Refusal) -> TrustedSigner {
    let header = parts.header
    let digest: SHA256Digest
    do {
      digest = try SHA256.digest(of: header)
    } catch {
      throw Refusal(error, as: .retryable, in: "header")
    }
    if let refusal = cache.refusal(of: digest) { throw refusal }
    do throws(Refusal) {
      return try validate(header)
    } catch {
      cache.insert(error, of: digest)
      throw error
    }
  }

  private func validate(_ segment: [UInt8]) throws(Refusal) -> TrustedSigner {
    let header = try SignerHeader(segment: segment)
    try header.checkAlgorithm()
    let chain = try CertificateChain(try header.certificates())
    let (key, anchor) = try chain.trustedKey(under: anchors)
    return try TrustedSigner(header: segment, key: key, chain: chain, anchor: anchor)
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
        // The expected kind is never a notification, so this recurses only once.
        let payload = try checked(jws, as: part.kind, policy: policy, now: now)
        try payload.claims.checkAgreement(with: outer)
        inner.append(payload)
      } catch {
        throw error.inside(part.kind)
      }
    }
    return inner
  }
}
