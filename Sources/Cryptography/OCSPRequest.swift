import COpenSSL

/// The question for the status of one certificate (RFC 6960 section 4.1).
package enum OCSPRequest {
  /// The request in DER, as it is posted to a responder.
  ///
  /// It names the certificate by SHA-1, which every responder knows (RFC 5019 section 2.1.1): the
  /// hash only picks the certificate out, nothing rests on its strength. It carries no nonce: public
  /// responders hand out answers that were signed before and leave a nonce out, so that one could
  /// not be insisted on (RFC 5019 section 4). How old an answer may be is said by the answer.
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
    return CryptographyError(.libraryFault, "a status request could not be made")
  }
}
