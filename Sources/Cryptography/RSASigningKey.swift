import COpenSSL

/// An RSA private key, for signing legacy receipts.
///
/// `@unchecked Sendable`: the key is not modified after `init`, OpenSSL allows concurrent use of an
/// unmodified `EVP_PKEY`, and each operation creates its own context.
package final class RSASigningKey: CertificateKey, @unchecked Sendable {
  /// Key length in bits, as Apple uses for receipts. Also the minimum for keys that are read from
  /// files.
  package static let standardLength = 2_048

  /// The owned reference.
  private let key: OpaquePointer

  private init(owning key: OpaquePointer) {
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  /// Generates a random key of ``standardLength``.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault``.
  package static func generate() throws(CryptographyError) -> RSASigningKey {
    let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var generated: OpaquePointer?
    guard context != nil, EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(standardLength)) == 1,
      EVP_PKEY_generate(context, &generated) == 1, let generated
    else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "no RSA key could be generated")
    }
    return RSASigningKey(owning: generated)
  }

  /// Reads an unencrypted private key from PEM.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none or it is not an
  ///   RSA key of at least ``standardLength``.
  package init(privateKeyPEM pem: [UInt8]) throws(CryptographyError) {
    let key = try PrivateKeyPEM.read(pem)
    guard EVP_PKEY_is_a(key, "RSA") == 1, EVP_PKEY_get_bits(key) >= Int32(Self.standardLength)
    else {
      EVP_PKEY_free(key)
      throw CryptographyError(
        .malformedPrivateKey, "not an RSA key of \(Self.standardLength) bits")
    }
    self.key = key
  }

  package var certificateDigestName: String { "SHA256" }

  package func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    // `self` owns the key and must outlive the call.
    withExtendedLifetime(self) { body(key) }
  }
}
