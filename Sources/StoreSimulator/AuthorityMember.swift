package import Cryptography

/// A certificate in DER and its private key.
package struct AuthorityMember<Key: CertificateKey>: Sendable {
  package let certificate: [UInt8]
  package let key: Key

  package init(certificate: [UInt8], key: Key) {
    self.certificate = certificate
    self.key = key
  }

  /// PEM of the certificate.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  func certificatePEM() throws(SimulatorError) -> [UInt8] {
    try SimulatorError.wrapping { () throws(CryptographyError) in
      try CertificatePEM.encode(certificate)
    }
  }

  package var issuer: CertificateBuilder.Issuer {
    CertificateBuilder.Issuer(certificate: certificate, key: key)
  }
}
