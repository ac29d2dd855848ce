import COpenSSL

/// An OCSP request for the status of one certificate (RFC 6960 section 4.1).
package enum OCSPRequest {
  /// The request in DER.
  ///
  /// The certificate is identified with SHA-1, which every responder supports (RFC 5019 section
  /// 2.1.1). The hash only selects the certificate; no security depends on it. The request has no
  /// nonce: public responders send pre-signed responses and omit it (RFC 5019 section 4). The
  /// response states its own validity period.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault``.
  package static func der(
    for certificate: Certificate, issuedBy issuer: Certificate
  ) throws(CryptographyError) -> [UInt8] {
    guard let request = OCSP_REQUEST_new() else { throw fault }
    defer { OCSP_REQUEST_free(request) }
    let identifier = try OCSPCertificateID(of: certificate, issuedBy: issuer)
    guard let copy = OCSP_CERTID_dup(identifier.pointer) else { throw fault }
    guard OCSP_request_add0_id(request, copy) != nil else {
      OCSP_CERTID_free(copy)
      throw fault
    }
    let length = i2d_OCSP_REQUEST(request, nil)
    guard length > 0 else { throw fault }
    var encoded = [UInt8](repeating: 0, count: Int(length))
    let written = encoded.withUnsafeMutableBufferPointer { buffer in
      var position = buffer.baseAddress
      return i2d_OCSP_REQUEST(request, &position)
    }
    guard written == length else { throw fault }
    return encoded
  }

  private static var fault: CryptographyError {
    ERR_clear_error()
    return CryptographyError(.libraryFault, "the OCSP request could not be created")
  }
}

/// The `CertID` of requests and responses: SHA-1 hashes of the issuer's name and key, and the
/// serial number (RFC 6960 section 4.1.1).
final class OCSPCertificateID {
  let pointer: OpaquePointer

  /// - Throws: ``CryptographyError/Code/libraryFault``.
  init(of certificate: Certificate, issuedBy issuer: Certificate) throws(CryptographyError) {
    guard let pointer = OCSP_cert_to_id(EVP_sha1(), certificate.pointer, issuer.pointer) else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "the OCSP certificate ID could not be created")
    }
    self.pointer = pointer
  }

  deinit { OCSP_CERTID_free(pointer) }
}
