import COpenSSL

/// Certificates in PEM files, one a file.
package enum CertificatePEM {
  /// - Parameter certificate: one certificate in DER.
  /// - Throws: ``CryptographyError/Code/malformedCertificate`` or
  ///   ``CryptographyError/Code/libraryFault``.
  package static func encode(_ certificate: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let parsed = try OwnedCertificate(der: certificate)
    let output = try MemoryBuffer()
    guard PEM_write_bio_X509(output.pointer, parsed.pointer) == 1 else {
      throw CryptographyError(.libraryFault, "the certificate could not be written")
    }
    return output.bytes
  }

  /// The first certificate of a PEM file, in DER.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPEM`` when there is none.
  package static func decode(_ pem: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let input = try MemoryBuffer(holding: pem)
    guard let pointer = PEM_read_bio_X509(input.pointer, nil, nil, nil) else {
      ERR_clear_error()
      throw CryptographyError(.malformedPEM, "no certificate in the PEM file")
    }
    let parsed = OwnedCertificate(owning: pointer)
    return try parsed.derBytes()
  }
}
