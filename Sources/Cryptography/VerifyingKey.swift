import COpenSSL

/// A P-256 public key that checks ES256 signatures (RFC 7518 section 3.4). Safe on any thread.
// @unchecked: the `EVP_PKEY` is never changed here, OpenSSL counts its references atomically, and
// each check uses a context of its own.
package final class VerifyingKey: @unchecked Sendable {
  /// r and s, 32 bytes each.
  package static let signatureLength = 64

  private let pointer: OpaquePointer
  private let contexts = ContextPool<VerifyingContext>()

  /// Takes over `pointer` and frees it, also when this throws.
  ///
  /// - Throws: ``CryptographyError/Code/unsupportedPublicKey`` when it is not a P-256 key.
  init(owning pointer: OpaquePointer) throws(CryptographyError) {
    self.pointer = pointer
    guard Self.isP256(pointer) else {
      throw CryptographyError(.unsupportedPublicKey, "the public key is not on the curve P-256")
    }
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Whether `signature` (r‖s) is this key's signature of `message` with SHA-256. Any other length
  /// than ``signatureLength`` is no signature.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL could not decide.
  package func isValidSignature(
    _ signature: [UInt8], of message: UnsafeRawBufferPointer
  ) throws(CryptographyError) -> Bool {
    guard signature.count == Self.signatureLength else { return false }
    return try isValidSignature(signature, ofDigest: try SHA256.digest(of: message))
  }

  /// Whether `signature` (r‖s) is this key's signature of the message with this SHA-256. Any other
  /// length than ``signatureLength`` is no signature.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL could not decide.
  package func isValidSignature(
    _ signature: [UInt8], ofDigest digest: SHA256Digest
  ) throws(CryptographyError) -> Bool {
    guard signature.count == Self.signatureLength else { return false }
    let context: VerifyingContext
    if let idle = contexts.borrow() {
      context = idle
    } else {
      context = try VerifyingContext(key: pointer)
    }
    let isValid = try context.isValidSignature(signature, of: digest)
    contexts.giveBack(context)
    return isValid
  }

  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL could not decide.
  package func isValidSignature(
    _ signature: [UInt8], of message: [UInt8]
  ) throws(CryptographyError) -> Bool {
    try message.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
      try isValidSignature(signature, of: UnsafeRawBufferPointer(buffer))
    }
  }

  private static func isP256(_ pointer: OpaquePointer) -> Bool {
    guard EVP_PKEY_is_a(pointer, "EC") == 1 else { return false }
    var name = [CChar](repeating: 0, count: 32)
    var length = 0
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else {
      ERR_clear_error()
      return false
    }
    return OBJ_sn2nid(name) == NID_X9_62_prime256v1
  }
}

/// One `EVP_PKEY_CTX` that is ready to verify.
// @unchecked: a context has one user at a time. It is either in a pool or with its borrower.
private final class VerifyingContext: @unchecked Sendable {
  private let pointer: OpaquePointer

  /// The context holds a reference of its own to `key`.
  init(key: OpaquePointer) throws(CryptographyError) {
    guard let pointer = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
      throw CryptographyError(.libraryFault, "no context for a signature check")
    }
    self.pointer = pointer
    guard EVP_PKEY_verify_init(pointer) == 1 else {
      throw CryptographyError(.libraryFault, "a signature check cannot be set up")
    }
  }

  deinit { EVP_PKEY_CTX_free(pointer) }

  /// - Parameter signature: 64 bytes.
  func isValidSignature(
    _ signature: [UInt8], of digest: SHA256Digest
  ) throws(CryptographyError) -> Bool {
    let words = (
      digest.words.0.bigEndian, digest.words.1.bigEndian, digest.words.2.bigEndian,
      digest.words.3.bigEndian
    )
    let outcome = withUnsafeTemporaryAllocation(
      of: UInt8.self, capacity: ECDSASignature.maximumLength
    ) { encoded in
      let length = ECDSASignature.encode(signature, into: encoded)
      return withUnsafeBytes(of: words) { hash in
        EVP_PKEY_verify(
          pointer, encoded.baseAddress, length,
          hash.baseAddress?.assumingMemoryBound(to: UInt8.self), hash.count)
      }
    }
    if outcome == 1 { return true }
    ERR_clear_error()
    // The encoding is ours and well formed, so a negative answer is no statement on the signature.
    guard outcome == 0 else {
      throw CryptographyError(.libraryFault, "a signature check failed to run")
    }
    return false
  }
}
