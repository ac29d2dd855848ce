import COpenSSL

/// An answer to an ``OCSPRequest`` (RFC 6960 section 4.2), read but not judged.
package final class OCSPResponse {
  private let pointer: OpaquePointer

  /// - Parameter der: at most ``OCSPLimits/responseLength`` bytes, filled exactly.
  /// - Throws: ``CryptographyError/Code/malformedStatusResponse``, or
  ///   ``CryptographyError/Code/statusRefused`` when the responder says that it cannot answer.
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
        .statusRefused, "the responder does not answer: \(Self.name(ofResponseStatus: status))")
    }
    guard let basic = OCSP_response_get1_basic(parsed) else {
      throw Self.malformed("the response is not of the basic type")
    }
    pointer = basic
  }

  deinit { OCSP_BASICRESP_free(pointer) }

  /// What the response says of a certificate, once its signature is one that counts: by the issuer
  /// itself, or by a responder whose certificate the issuer issued for that and which is valid now
  /// (RFC 6960 section 4.2.2.2). Whether such a responder's own certificate was revoked is not asked
  /// (section 4.2.2.2.1 leaves it to the issuer to say `nocheck`, and otherwise to us): Apple's say
  /// `nocheck`, and live for weeks.
  ///
  /// - Parameters:
  ///   - issuer: the certificate that issued `certificate`, which was verified before.
  ///   - now: milliseconds since the Unix epoch.
  /// - Throws: ``CryptographyError/Code/malformedStatusResponse``,
  ///   ``CryptographyError/Code/untrustedStatusResponse``,
  ///   ``CryptographyError/Code/staleStatusResponse`` or ``CryptographyError/Code/libraryFault``.
  package func standing(
    of certificate: Certificate, issuedBy issuer: Certificate, now: Int64
  ) throws(CryptographyError) -> CertificateStanding {
    try checkSignature(under: issuer, now: now)
    guard OCSP_BASICRESP_get_ext_by_critical(pointer, 1, -1) < 0 else {
      throw Self.malformed("a critical extension is not understood")
    }
    let statement = try OCSPStatement(
      in: pointer, about: OCSPCertificateID(of: certificate, issuedBy: issuer))
    return try statement.standing(now: now)
  }

  private func checkSignature(
    under issuer: Certificate, now: Int64
  ) throws(CryptographyError) {
    defer { ERR_clear_error() }
    guard let candidates = OPENSSL_sk_new_null() else {
      throw CryptographyError(.libraryFault, "no memory for a list of certificates")
    }
    // The certificates in it stay their owners'.
    defer { OPENSSL_sk_free(candidates) }
    guard OPENSSL_sk_push(candidates, UnsafeRawPointer(issuer.pointer)) > 0 else {
      throw CryptographyError(.libraryFault, "no memory for a list of certificates")
    }
    var found: OpaquePointer?
    // The issuer goes before the certificates that came with the response.
    guard OCSP_resp_get0_signer(pointer, &found, candidates) == 1, let found else {
      throw Self.untrusted("its signer's certificate is not at hand")
    }
    if found != issuer.pointer { try checkDelegate(found, of: issuer, now: now) }
    guard OPENSSL_sk_set(candidates, 0, UnsafeRawPointer(found)) != nil else {
      throw CryptographyError(.libraryFault, "no memory for a list of certificates")
    }
    // Who may sign was decided above, and by stricter rules: of OpenSSL's own only the check of the
    // signature itself is left, with that one certificate.
    let flags = UInt(OCSP_NOINTERN | OCSP_TRUSTOTHER)
    guard OCSP_basic_verify(pointer, candidates, nil, flags) == 1 else {
      throw Self.untrusted("its signature is not its signer's")
    }
  }

  private func checkDelegate(
    _ pointer: OpaquePointer, of issuer: Certificate, now: Int64
  ) throws(CryptographyError) {
    let delegate = try Certificate(copying: pointer)
    guard try delegate.isIssued(by: issuer) else {
      throw Self.untrusted("its signer is neither the issuer nor one that it has named")
    }
    guard delegate.maySignStatusResponses else {
      throw Self.untrusted("its signer's certificate is not for signing such responses")
    }
    guard delegate.validity.contains(now) else {
      throw Self.untrusted("its signer's certificate is not valid now")
    }
  }

  static func malformed(_ reason: String) -> CryptographyError {
    ERR_clear_error()
    return CryptographyError(.malformedStatusResponse, "the status response: \(reason)")
  }

  private static func untrusted(_ reason: String) -> CryptographyError {
    ERR_clear_error()
    return CryptographyError(.untrustedStatusResponse, "the status response: \(reason)")
  }

  /// By RFC 6960 section 4.2.1.
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
