import COpenSSL
import Locks

/// A P-256 public key that verifies ES256 signatures (RFC 7518 section 3.4). Safe on any thread.
// @unchecked: the `EVP_PKEY` is not modified after init, its reference count is atomic, and each
// verification uses its own context.
package final class VerifyingKey: @unchecked Sendable {
  /// Bytes of r and s, 32 each.
  package static let signatureLength = 64

  private let pointer: OpaquePointer
  private let contexts = ContextPool<VerifyingContext>()
  private let fixedBase = LockedValue<FixedBaseKey?>(nil)

  /// Takes ownership of `pointer`, also when this throws.
  ///
  /// - Throws: ``CryptographyError/Code/unsupportedPublicKey`` when it is not a P-256 key.
  init(owning pointer: OpaquePointer) throws(CryptographyError) {
    self.pointer = pointer
    guard Self.isP256(pointer) else {
      throw CryptographyError(.unsupportedPublicKey, "the public key is not on the curve P-256")
    }
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Whether checks use a table of the key's multiples.
  package var hasTable: Bool { fixedBase.withLock { $0 != nil } }

  /// Makes the table of the key's multiples, with which a check takes half of the time. It takes some
  /// 20 ms and 150 kB. Checks continue meanwhile.
  ///
  /// - Returns: false when this build of OpenSSL has no tables; checks stay as they are.
  package func makeTable() -> Bool {
    guard let made = FixedBaseKey(pointer) else { return false }
    fixedBase.withLock { $0 = made }
    return true
  }

  /// Frees the table when the checks in progress are over.
  package func dropTable() {
    fixedBase.withLock { $0 = nil }
  }

  /// Whether `signature` (r‖s) is a valid signature of `message` with SHA-256. False for any length
  /// other than ``signatureLength``.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL cannot complete the check.
  package func isValidSignature(
    _ signature: [UInt8], of message: UnsafeRawBufferPointer
  ) throws(CryptographyError) -> Bool {
    guard signature.count == Self.signatureLength else { return false }
    return try isValidSignature(signature, ofDigest: try SHA256.digest(of: message))
  }

  /// Whether `signature` (r‖s) is a valid signature of a message with this digest. False for any
  /// length other than ``signatureLength``.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL cannot complete the check.
  package func isValidSignature(
    _ signature: [UInt8], ofDigest digest: SHA256Digest
  ) throws(CryptographyError) -> Bool {
    guard signature.count == Self.signatureLength else { return false }
    if let table = fixedBase.withLock(\.self) {
      return try table.isValidSignature(signature, ofDigest: digest)
    }
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

  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL cannot complete the check.
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

/// An `EVP_PKEY_CTX` that is set up for verification.
// @unchecked: a context has one user at a time. It is either in a pool or with its borrower.
private final class VerifyingContext: @unchecked Sendable {
  private let pointer: OpaquePointer

  /// The context retains `key`.
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
    let isAtInfinity = Self.takeErrors().contains(EC_R_POINT_AT_INFINITY)
    // The DER encoding is well formed, so another error says nothing about the signature. R at infinity
    // is no signature (SEC 1 section 4.1.4, step 6); OpenSSL fails to read its x.
    guard outcome == 0 || isAtInfinity else {
      throw CryptographyError(.libraryFault, "a signature check failed to run")
    }
    return false
  }
}

extension VerifyingContext {
  /// The reasons of OpenSSL's errors on this thread, which are then cleared.
  private static func takeErrors() -> [Int32] {
    var reasons: [Int32] = []
    while case let code = ERR_get_error(), code != 0 { reasons.append(ERR_GET_REASON(code)) }
    return reasons
  }
}

/// Converts the raw r‖s of a JWS to the DER form that OpenSSL expects: a sequence of two integers
/// (RFC 3279 section 2.2.3).
enum ECDSASignature {
  /// Two integers of at most 33 bytes with a header of two bytes each, and two bytes for the
  /// sequence.
  static let maximumLength = 72

  /// Writes the DER form of r‖s (64 bytes) to `output` and returns its length.
  ///
  /// - Parameter output: room for ``maximumLength`` bytes.
  static func encode(_ raw: [UInt8], into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var length = 2
    appendInteger(raw[..<32], to: output, at: &length)
    appendInteger(raw[32...], to: output, at: &length)
    output[0] = 0x30
    output[1] = UInt8(length - 2)
    return length
  }

  private static func appendInteger(
    _ bytes: ArraySlice<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>,
    at position: inout Int
  ) {
    // DER requires the shortest form. A leading zero keeps the value positive.
    let digits = bytes.drop { $0 == 0 }
    let needsZero = digits.first.map { $0 >= 0x80 } ?? true
    output[position] = 0x02
    output[position + 1] = UInt8(digits.count + (needsZero ? 1 : 0))
    position += 2
    if needsZero {
      output[position] = 0
      position += 1
    }
    for digit in digits {
      output[position] = digit
      position += 1
    }
  }
}
