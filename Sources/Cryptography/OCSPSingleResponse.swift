import COpenSSL

/// The status of one certificate in a response (`SingleResponse`, RFC 6960 section 4.2.1). Must not
/// outlive the response.
struct OCSPSingleResponse {
  private let pointer: OpaquePointer

  /// - Throws: ``CryptographyError/Code/malformedStatusResponse`` unless the response has exactly
  ///   one status of the certificate. Other certificates are ignored.
  init(
    in response: OpaquePointer, about certificate: OCSPCertificateID
  ) throws(CryptographyError) {
    let index = OCSP_resp_find(response, certificate.pointer, -1)
    guard index >= 0, let pointer = OCSP_resp_get0(response, index) else {
      throw OCSPResponse.malformed("it has no status of this certificate")
    }
    guard OCSP_resp_find(response, certificate.pointer, index) < 0 else {
      throw OCSPResponse.malformed("it has more than one status of this certificate")
    }
    guard OCSP_SINGLERESP_get_ext_by_critical(pointer, 1, -1) < 0 else {
      throw OCSPResponse.malformed("a critical extension is not supported")
    }
    self.pointer = pointer
  }

  /// - Throws: ``CryptographyError/Code/staleStatusResponse`` when `now` is outside the validity
  ///   period, or ``CryptographyError/Code/malformedStatusResponse``.
  func certificateStatus(now: Int64) throws(CryptographyError) -> OCSPCertificateStatus {
    var reason: Int32 = -1
    var revocation: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    let code = OCSP_single_get0_status(pointer, &reason, &revocation, &this, &next)
    let thisUpdate = try moment(this)
    // `nextUpdate` is optional, but must be readable if present.
    let nextUpdate = next == nil ? nil : try moment(next)
    let validUntil = nextUpdate ?? thisUpdate + OCSPLimits.withoutNextUpdate
    guard thisUpdate <= validUntil else {
      throw OCSPResponse.malformed("nextUpdate is before thisUpdate")
    }
    guard thisUpdate - OCSPLimits.clockSkew <= now else {
      throw Self.stale("thisUpdate is in the future")
    }
    guard now <= validUntil else { throw Self.stale("it has expired") }
    return OCSPCertificateStatus(
      status: try status(code: code, reason: reason, revocation: revocation),
      thisUpdate: thisUpdate, validUntil: validUntil)
  }

  private func status(
    code: Int32, reason: Int32, revocation: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
  ) throws(CryptographyError) -> OCSPCertificateStatus.Status {
    switch code {
    case V_OCSP_CERTSTATUS_GOOD:
      return .good
    case V_OCSP_CERTSTATUS_REVOKED:
      return .revoked(moment: try moment(revocation), reason: Self.name(ofReason: reason))
    case V_OCSP_CERTSTATUS_UNKNOWN:
      return .unknown
    default:
      throw OCSPResponse.malformed("the certificate's status cannot be read")
    }
  }

  /// Milliseconds since the Unix epoch.
  private func moment(
    _ time: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
  ) throws(CryptographyError) -> Int64 {
    var seconds: Int64 = 0
    // Years have four digits, so the product and small sums with it cannot overflow.
    guard let time, entitle_asn1_time_seconds(time, &seconds) == 1 else {
      throw OCSPResponse.malformed("a date cannot be read")
    }
    return seconds * 1_000
  }

  private static func stale(_ reason: String) -> CryptographyError {
    CryptographyError(.staleStatusResponse, "OCSP response: \(reason)")
  }

  /// Names of RFC 5280 section 5.3.1; nil for no reason and for an unlisted one.
  private static func name(ofReason reason: Int32) -> String? {
    switch reason {
    case OCSP_REVOKED_STATUS_UNSPECIFIED: "unspecified"
    case OCSP_REVOKED_STATUS_KEYCOMPROMISE: "keyCompromise"
    case OCSP_REVOKED_STATUS_CACOMPROMISE: "cACompromise"
    case OCSP_REVOKED_STATUS_AFFILIATIONCHANGED: "affiliationChanged"
    case OCSP_REVOKED_STATUS_SUPERSEDED: "superseded"
    case OCSP_REVOKED_STATUS_CESSATIONOFOPERATION: "cessationOfOperation"
    case OCSP_REVOKED_STATUS_CERTIFICATEHOLD: "certificateHold"
    case OCSP_REVOKED_STATUS_REMOVEFROMCRL: "removeFromCRL"
    case OCSP_REVOKED_STATUS_PRIVILEGEWITHDRAWN: "privilegeWithdrawn"
    case OCSP_REVOKED_STATUS_AACOMPROMISE: "aACompromise"
    default: nil
    }
  }
}

/// The OCSP status of a certificate, with its validity period (RFC 6960 sections 2.2 and 4.2.2.1).
/// Times are in milliseconds since the Unix epoch.
package struct OCSPCertificateStatus: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case good
    /// - Parameters:
    ///   - moment: time of the revocation.
    ///   - reason: a name of RFC 5280 section 5.3.1, such as `keyCompromise`; nil if not stated.
    case revoked(moment: Int64, reason: String?)
    /// The responder does not know the certificate.
    case unknown
  }

  package let status: Status
  /// When the status was known to be correct.
  package let thisUpdate: Int64
  /// The last time at which the status may be used.
  package let validUntil: Int64

  package init(status: Status, thisUpdate: Int64, validUntil: Int64) {
    self.status = status
    self.thisUpdate = thisUpdate
    self.validUntil = validUntil
  }
}
