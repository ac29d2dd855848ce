import COpenSSL

/// What a response says of one certificate (`SingleResponse`, RFC 6960 section 4.2.1). Lives no
/// longer than the response.
struct OCSPStatement {
  private let pointer: OpaquePointer

  /// - Throws: ``CryptographyError/Code/malformedStatusResponse`` unless there is exactly one
  ///   statement on the certificate. Those on others do not matter.
  init(
    in response: OpaquePointer, about certificate: OCSPCertificateID
  ) throws(CryptographyError) {
    let index = OCSP_resp_find(response, certificate.pointer, -1)
    guard index >= 0, let pointer = OCSP_resp_get0(response, index) else {
      throw OCSPResponse.malformed("it is about another certificate")
    }
    guard OCSP_resp_find(response, certificate.pointer, index) < 0 else {
      throw OCSPResponse.malformed("it speaks of the certificate more than once")
    }
    guard OCSP_SINGLERESP_get_ext_by_critical(pointer, 1, -1) < 0 else {
      throw OCSPResponse.malformed("a critical extension is not understood")
    }
    self.pointer = pointer
  }

  /// - Throws: ``CryptographyError/Code/staleStatusResponse`` unless it is of now.
  func standing(now: Int64) throws(CryptographyError) -> CertificateStanding {
    var reason: Int32 = -1
    var revocation: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    let code = OCSP_single_get0_status(pointer, &reason, &revocation, &this, &next)
    let thisUpdate = try moment(this)
    // A time that is not there is no fault; one that cannot be read is.
    let nextUpdate = next == nil ? nil : try moment(next)
    let usableUntil = nextUpdate ?? thisUpdate + OCSPLimits.withoutNextUpdate
    guard thisUpdate <= usableUntil else {
      throw OCSPResponse.malformed("it ends before it begins")
    }
    guard thisUpdate - OCSPLimits.clockSkew <= now else {
      throw Self.stale("it is of a time to come")
    }
    guard now <= usableUntil else { throw Self.stale("it is out of date") }
    return CertificateStanding(
      status: try status(code: code, reason: reason, revocation: revocation),
      thisUpdate: thisUpdate, usableUntil: usableUntil)
  }

  private func status(
    code: Int32, reason: Int32, revocation: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
  ) throws(CryptographyError) -> CertificateStanding.Status {
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
    // Dates of four-digit years: the product with 1000, and small sums with it, cannot overflow.
    guard let time, entitle_asn1_time_seconds(time, &seconds) == 1 else {
      throw OCSPResponse.malformed("a date cannot be read")
    }
    return seconds * 1_000
  }

  private static func stale(_ reason: String) -> CryptographyError {
    CryptographyError(.staleStatusResponse, "the status response: \(reason)")
  }

  /// By RFC 5280 section 5.3.1; nil when none is said, or one that it does not list.
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
