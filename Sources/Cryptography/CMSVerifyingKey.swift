import COpenSSL

/// An RSA public key that verifies PKCS #1 v1.5 signatures (RFC 8017 section 8.2) with one hash
/// function. Safe on any thread.
// @unchecked: the `EVP_PKEY` is not modified after init, its reference count is atomic, and each
// verification uses its own context.
package final class CMSVerifyingKey: @unchecked Sendable {
  package let digest: CMSDigest
  /// Length of the modulus in bits.
  package let bits: Int
  private let pointer: OpaquePointer
  private let contexts = ContextPool<CMSVerifyingContext>()

  /// Reads the public key of a certificate.
  ///
  /// - Throws: ``CryptographyError/Code/unsupportedPublicKey`` when it is not an RSA key or is
  ///   restricted to PSS.
  package init(_ certificate: Certificate, digest: CMSDigest) throws(CryptographyError) {
    guard let pointer = X509_get_pubkey(certificate.pointer) else {
      ERR_clear_error()
      throw CryptographyError(.unsupportedPublicKey, "the public key cannot be read")
    }
    self.pointer = pointer
    self.digest = digest
    bits = Int(EVP_PKEY_get_bits(pointer))
    guard EVP_PKEY_is_a(pointer, "RSA") == 1 else {
      throw CryptographyError(.unsupportedPublicKey, "the public key is not an RSA key")
    }
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Whether `signature` is a valid signature of `message`.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL cannot complete the check.
  package func isValidSignature(
    _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer
  ) throws(CryptographyError) -> Bool {
    let hash =
      switch digest {
      case .sha1: try SHA1.digest(of: message)
      case .sha256: try SHA256.digest(of: message).bytes
      }
    let context: CMSVerifyingContext
    if let idle = contexts.borrow() {
      context = idle
    } else {
      context = try CMSVerifyingContext(key: pointer, digest: digest)
    }
    let isValid = try context.isValidSignature(signature, ofHash: hash)
    contexts.giveBack(context)
    return isValid
  }
}

/// An `EVP_PKEY_CTX` that is set up for verification.
// @unchecked: a context has one user at a time. It is either in a pool or with its borrower.
private final class CMSVerifyingContext: @unchecked Sendable {
  private let pointer: OpaquePointer

  /// The context retains `key`.
  init(key: OpaquePointer, digest: CMSDigest) throws(CryptographyError) {
    guard let pointer = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "no context for a signature check")
    }
    self.pointer = pointer
    guard EVP_PKEY_verify_init(pointer) == 1,
      EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PADDING) == 1,
      EVP_PKEY_CTX_set_signature_md(pointer, digest == .sha1 ? EVP_sha1() : EVP_sha256()) == 1
    else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "a signature check cannot be set up")
    }
  }

  deinit { EVP_PKEY_CTX_free(pointer) }

  func isValidSignature(
    _ signature: UnsafeRawBufferPointer, ofHash hash: [UInt8]
  ) throws(CryptographyError) -> Bool {
    ERR_clear_error()
    defer { ERR_clear_error() }
    let outcome = EVP_PKEY_verify(
      pointer, signature.baseAddress?.assumingMemoryBound(to: UInt8.self), signature.count, hash,
      hash.count)
    if outcome == 1 { return true }
    // OpenSSL reports an error, not a mismatch, for a signature that is longer or greater than the
    // modulus. So every failure except out of memory means that the signature is not valid.
    try CryptographyError.checkMemory(for: "a signature check")
    return false
  }
}
