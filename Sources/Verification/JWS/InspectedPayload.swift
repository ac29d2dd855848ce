import AppStorePayloads
package import Cryptography
package import EntitlementDomain
package import JSON

/// The contents of a JWS, decoded without verification, for display.
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
  /// Nil when the fields match no known kind.
  package let kind: SignedKind?
  /// The certificates of the header, in order; empty when one of them cannot be parsed.
  package let certificates: [CertificateSummary]

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not three base64url parts with
  ///   JSON objects as header and payload.
  package init(_ jws: [UInt8]) throws(Refusal) {
    do {
      try self.init(parts: CompactJWS(jws))
    } catch {
      throw error.naming(jws, at: .signedPayload)
    }
  }

  private init(parts: CompactJWS) throws(Refusal) {
    let header = try SignerHeader(segment: parts.header)
    let fields: PayloadFields
    do {
      fields = try PayloadFields(json: parts.payload)
    } catch {
      throw Refusal(error, in: "payload")
    }
    self.header = header.document
    payload = fields.document
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
  /// Decodes a JWS without verification.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  package func inspect(_ jws: [UInt8]) throws(Refusal) -> InspectedPayload {
    try InspectedPayload(jws)
  }
}
