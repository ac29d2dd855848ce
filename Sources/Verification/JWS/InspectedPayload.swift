package import Cryptography
package import EntitlementDomain

/// What a JWS holds, read without trusting any of it: for people who look at one.
package struct InspectedPayload: Sendable {
  /// One certificate of the header.
  package struct CertificateSummary: Hashable, Sendable {
    /// Names in RFC 2253 form.
    package let subject: String
    package let issuer: String
    /// The first and the last moment of validity.
    package let validFrom: Milliseconds
    package let validUntil: Milliseconds
    package let fingerprint: CertificateFingerprint
  }

  package let header: JSONDocument
  package let payload: JSONDocument
  /// Nil when the fields are those of no kind that is known.
  package let kind: SignedKind?
  /// As many as the header holds, in its order; none when one of them cannot be read.
  package let certificates: [CertificateSummary]

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not three base64url parts with JSON
  ///   objects as header and payload.
  package init(_ jws: [UInt8]) throws(Refusal) {
    let parts = try CompactJWS(jws)
    let header = try SignerHeader(segment: parts.header)
    let fields: PayloadFields
    do {
      payload = try JSONDocument(parts.payload)
      fields = try payload.fields()
    } catch {
      throw Refusal(error, in: "payload")
    }
    self.header = header.document
    kind = SignedKind(detecting: fields)
    certificates = (try? header.certificates().map(CertificateSummary.init(_:))) ?? []
  }
}

extension InspectedPayload.CertificateSummary {
  init(_ certificate: Certificate) {
    subject = certificate.subject
    issuer = certificate.issuer
    validFrom = Milliseconds(certificate.validity.lowerBound)
    validUntil = Milliseconds(certificate.validity.upperBound)
    fingerprint = certificate.fingerprint
  }
}

extension JWSVerifier {
  /// Reads a JWS without verifying anything.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  package func inspect(_ jws: [UInt8]) throws(Refusal) -> InspectedPayload {
    try InspectedPayload(jws)
  }
}
