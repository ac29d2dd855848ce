import COpenSSL

/// A private key for which certificates are made, and that signs them.
package protocol CertificateKey: Sendable {
  /// Reads a PEM file with one private key of this kind that is not encrypted.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none.
  init(privateKeyPEM pem: [UInt8]) throws(CryptographyError)

  /// The name of the hash with which this key signs certificates, as OpenSSL knows it.
  var certificateDigestName: String { get }

  /// Lends the OpenSSL key for the length of `body`, which must neither change, keep nor free it.
  func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result
}

extension CertificateKey {
  /// The key as PKCS#8 in PEM, not encrypted: keep it in a file that only its owner can read.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault``.
  package func privateKeyPEM() throws(CryptographyError) -> [UInt8] {
    let output = try MemoryBuffer()
    let isWritten = withPointer { key in
      PEM_write_bio_PrivateKey(output.pointer, key, nil, nil, 0, nil, nil) == 1
    }
    guard isWritten else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "the key could not be written")
    }
    return output.bytes
  }

  /// True when `certificate`, in DER, certifies the public half of this key.
  package func belongs(toCertificate certificate: [UInt8]) -> Bool {
    guard let parsed = try? OwnedCertificate(der: certificate),
      let certified = X509_get0_pubkey(parsed.pointer)
    else { return false }
    let result = withPointer { EVP_PKEY_eq(certified, $0) }
    ERR_clear_error()
    return result == 1
  }
}
