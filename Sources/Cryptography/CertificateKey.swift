import COpenSSL

/// A private key that certificates are issued for and signed with.
package protocol CertificateKey: Sendable {
  /// Reads an unencrypted private key of this kind from PEM.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none.
  init(privateKeyPEM pem: [UInt8]) throws(CryptographyError)

  /// OpenSSL name of the hash function for certificate signatures with this key.
  var certificateDigestName: String { get }

  /// Calls `body` with the OpenSSL key. `body` must not modify, retain or free it.
  func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result
}

extension CertificateKey {
  /// The key as unencrypted PKCS #8 in PEM. Store it in a file that only its owner can read.
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

  /// Whether `certificate`, in DER, certifies the public key of this private key.
  package func belongs(toCertificate certificate: [UInt8]) -> Bool {
    guard let parsed = try? OwnedCertificate(der: certificate),
      let certified = X509_get0_pubkey(parsed.pointer)
    else { return false }
    let result = withPointer { EVP_PKEY_eq(certified, $0) }
    ERR_clear_error()
    return result == 1
  }
}

/// Private keys in PEM files.
enum PrivateKeyPEM {
  /// Reads a private key of any kind. The caller owns the returned reference.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none, or it is
  ///   encrypted.
  static func read(_ pem: [UInt8]) throws(CryptographyError) -> OpaquePointer {
    let input = try MemoryBuffer(holding: pem)
    // Without the callback OpenSSL would ask for a password on the terminal.
    guard
      let key = PEM_read_bio_PrivateKey(input.pointer, nil, { _, _, _, _ in -1 }, nil)
    else {
      ERR_clear_error()
      throw CryptographyError(.malformedPrivateKey, "not a PEM file with a plain private key")
    }
    return key
  }
}
