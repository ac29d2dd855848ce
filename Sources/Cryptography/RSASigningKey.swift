import COpenSSL

/// A private RSA key: what the App Store's legacy receipts are signed with.
///
/// `@unchecked Sendable` holds because the key is never changed after `init`, and OpenSSL allows an
/// `EVP_PKEY` that nobody changes to be used from many threads; each operation makes its own
/// context.
package final class RSASigningKey: CertificateKey, @unchecked Sendable {
  /// The length of Apple's keys for receipts, in bits, and the least that is taken from a file.
  package static let standardLength = 2_048

  /// The one reference that this object owns.
  private let key: OpaquePointer

  private init(owning key: OpaquePointer) {
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  /// A new random key of ``standardLength``.
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

  /// Reads a PEM file with one private key that is not encrypted.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none, or it is no RSA key
  ///   of at least ``standardLength``.
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
    // The key lives as long as this object, and the call keeps this object alive.
    withExtendedLifetime(self) { body(key) }
  }
}
