import COpenSSL

/// A parsed OCSP response (RFC 6960 section 4.2). It is not verified.
package final class OCSPResponse {
  private let pointer: OpaquePointer

  /// - Parameter der: exactly one response of at most ``OCSPLimits/responseLength`` bytes.
  /// - Throws: ``CryptographyError/Code/malformedStatusResponse``, or
  ///   ``CryptographyError/Code/statusRefused`` when the responder returned an error status.
  package init(der: [UInt8]) throws(CryptographyError) {
    guard der.count <= OCSPLimits.responseLength else {
      throw Self.malformed("longer than \(OCSPLimits.responseLength) bytes")
    }
    let (parsed, isFilled) = der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      let parsed = d2i_OCSP_RESPONSE(nil, &position, buffer.count)
      return (parsed, position == buffer.baseAddress.map { $0 + buffer.count })
    }
    defer { OCSP_RESPONSE_free(parsed) }
    guard let parsed, isFilled else { throw Self.malformed("not exactly one response in DER") }
    let status = OCSP_response_status(parsed)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      throw CryptographyError(
        .statusRefused, "the responder returned an error: \(Self.name(ofResponseStatus: status))")
    }
    guard let basic = OCSP_response_get1_basic(parsed) else {
      throw Self.malformed("the response is not of the basic type")
    }
    pointer = basic
  }

  deinit { OCSP_BASICRESP_free(pointer) }

  /// Verifies the response and returns the status of a certificate.
  ///
  /// The signer must be the issuer, or a responder whose certificate the issuer issued for OCSP
  /// signing and which is valid now (RFC 6960 section 4.2.2.2). The revocation status of the
  /// responder's certificate is not checked: Apple's have `nocheck` and are valid for weeks
  /// (section 4.2.2.2.1).
  ///
  /// - Parameters:
  ///   - issuer: the verified issuer of `certificate`.
  ///   - now: milliseconds since the Unix epoch.
  /// - Throws: ``CryptographyError/Code/malformedStatusResponse``,
  ///   ``CryptographyError/Code/untrustedStatusResponse``,
  ///   ``CryptographyError/Code/staleStatusResponse`` or ``CryptographyError/Code/libraryFault``.
  package func certificateStatus(
    of certificate: Certificate, issuedBy issuer: Certificate, now: Int64
  ) throws(CryptographyError) -> OCSPCertificateStatus {
    try checkSignature(under: issuer, now: now)
    guard OCSP_BASICRESP_get_ext_by_critical(pointer, 1, -1) < 0 else {
      throw Self.malformed("a critical extension is not supported")
    }
    let single = try OCSPSingleResponse(
      in: pointer, about: OCSPCertificateID(of: certificate, issuedBy: issuer))
    return try single.certificateStatus(now: now)
  }

  private func checkSignature(
    under issuer: Certificate, now: Int64
  ) throws(CryptographyError) {
    defer { ERR_clear_error() }
    guard let candidates = OPENSSL_sk_new_null() else {
      throw CryptographyError(.libraryFault, "no memory for a list of certificates")
    }
    // The list does not own its certificates.
    defer { OPENSSL_sk_free(candidates) }
    guard OPENSSL_sk_push(candidates, UnsafeRawPointer(issuer.pointer)) > 0 else {
      throw CryptographyError(.libraryFault, "no memory for a list of certificates")
    }
    var found: OpaquePointer?
    // OpenSSL searches `candidates` before the certificates of the response.
    guard OCSP_resp_get0_signer(pointer, &found, candidates) == 1, let found else {
      throw Self.untrusted("the signer's certificate is missing")
    }
    if found != issuer.pointer { try checkDelegate(found, of: issuer, now: now) }
    guard OPENSSL_sk_set(candidates, 0, UnsafeRawPointer(found)) != nil else {
      throw CryptographyError(.libraryFault, "no memory for a list of certificates")
    }
    // The signer was authorised above, by stricter rules. OpenSSL only checks the signature, with
    // that one certificate.
    let flags = UInt(OCSP_NOINTERN | OCSP_TRUSTOTHER)
    guard OCSP_basic_verify(pointer, candidates, nil, flags) == 1 else {
      throw Self.untrusted("the signature is not valid")
    }
  }

  private func checkDelegate(
    _ pointer: OpaquePointer, of issuer: Certificate, now: Int64
  ) throws(CryptographyError) {
    let delegate = try Certificate(copying: pointer)
    guard try delegate.isIssued(by: issuer) else {
      throw Self.untrusted("the signer is neither the issuer nor a responder that it certified")
    }
    guard delegate.maySignStatusResponses else {
      throw Self.untrusted("the signer's certificate may not sign OCSP responses")
    }
    guard delegate.validity.contains(now) else {
      throw Self.untrusted("the signer's certificate is not valid now")
    }
  }

  static func malformed(_ reason: String) -> CryptographyError {
    ERR_clear_error()
    return CryptographyError(.malformedStatusResponse, "OCSP response: \(reason)")
  }

  private static func untrusted(_ reason: String) -> CryptographyError {
    ERR_clear_error()
    return CryptographyError(.untrustedStatusResponse, "OCSP response: \(reason)")
  }

  /// Names of RFC 6960 section 4.2.1.
  private static func name(ofResponseStatus status: Int32) -> String {
    switch status {
    case OCSP_RESPONSE_STATUS_MALFORMEDREQUEST: "malformedRequest"
    case OCSP_RESPONSE_STATUS_INTERNALERROR: "internalError"
    case OCSP_RESPONSE_STATUS_TRYLATER: "tryLater"
    case OCSP_RESPONSE_STATUS_SIGREQUIRED: "sigRequired"
    case OCSP_RESPONSE_STATUS_UNAUTHORIZED: "unauthorized"
    default: "status \(status)"
    }
  }
}

/// Limits of OCSP responses.
package enum OCSPLimits {
  /// Bytes of a response, 64 KiB. Typical responses have 1 to 3 kB, including the responder's
  /// certificate.
  package static let responseLength = 65_536
  /// How far a responder's clock may be ahead, in milliseconds: five minutes, a usual tolerance.
  static let clockSkew: Int64 = 300_000
  /// How long after `thisUpdate` a response without `nextUpdate` is used, in milliseconds: one
  /// hour. Without `nextUpdate`, newer information is available at any time (RFC 6960 section
  /// 4.2.2.1).
  static let withoutNextUpdate: Int64 = 3_600_000
}
