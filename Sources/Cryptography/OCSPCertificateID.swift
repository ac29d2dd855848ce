import COpenSSL

/// How a request and its answer name a certificate: the issuer's name and key, hashed with SHA-1,
/// and the serial number (RFC 6960 section 4.1.1).
final class OCSPCertificateID {
  let pointer: OpaquePointer

  /// - Throws: ``CryptographyError/Code/libraryFault``.
  init(of certificate: Certificate, issuedBy issuer: Certificate) throws(CryptographyError) {
    guard let pointer = OCSP_cert_to_id(EVP_sha1(), certificate.pointer, issuer.pointer) else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "a certificate could not be named for its status")
    }
    self.pointer = pointer
  }

  deinit { OCSP_CERTID_free(pointer) }
}
