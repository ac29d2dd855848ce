import COpenSSL

/// SHA-256 (FIPS 180-4) through OpenSSL's EVP interface. Safe on any thread.
package enum SHA256 {
  // The algorithm is looked up once: fetching it costs more than hashing a payload.
  private static let algorithm: Algorithm? = Algorithm()
  private static let contexts = ContextPool<SHA256Context>()

  /// - Throws: ``CryptographyError/Code/libraryFault`` only: every input has a digest.
  package static func digest(
    of bytes: UnsafeRawBufferPointer
  ) throws(CryptographyError) -> SHA256Digest {
    let context: SHA256Context
    if let idle = contexts.borrow() {
      context = idle
    } else {
      context = try SHA256Context(algorithm)
    }
    let digest = try context.digest(of: bytes)
    // A context that failed is freed instead: its state is unknown.
    contexts.giveBack(context)
    return digest
  }

  /// - Throws: ``CryptographyError/Code/libraryFault`` only.
  package static func digest(of bytes: [UInt8]) throws(CryptographyError) -> SHA256Digest {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
      try digest(of: UnsafeRawBufferPointer(buffer))
    }
  }

  /// The fetched algorithm.
  // @unchecked: an `EVP_MD` is constant once fetched, and OpenSSL counts its references atomically.
  fileprivate final class Algorithm: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    init?() {
      guard let pointer = EVP_MD_fetch(nil, "SHA256", nil) else { return nil }
      self.pointer = pointer
    }

    deinit { EVP_MD_free(pointer) }
  }
}

/// One `EVP_MD_CTX`, set up for SHA-256 and used again and again.
// @unchecked: a context has one user at a time. It is either in a pool or with its borrower.
private final class SHA256Context: @unchecked Sendable {
  private let pointer: OpaquePointer

  init(_ algorithm: SHA256.Algorithm?) throws(CryptographyError) {
    guard let algorithm, let pointer = EVP_MD_CTX_new() else {
      throw CryptographyError(.libraryFault, "SHA-256 is not available")
    }
    self.pointer = pointer
    guard EVP_DigestInit_ex2(pointer, algorithm.pointer, nil) == 1 else {
      throw CryptographyError(.libraryFault, "SHA-256 cannot be set up")
    }
  }

  deinit { EVP_MD_CTX_free(pointer) }

  func digest(of bytes: UnsafeRawBufferPointer) throws(CryptographyError) -> SHA256Digest {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let succeeded = withUnsafeMutableBytes(of: &words) { output in
      // Without an algorithm the context starts over with the one it has, and allocates nothing.
      EVP_DigestInit_ex2(pointer, nil, nil) == 1
        && EVP_DigestUpdate(pointer, bytes.baseAddress, bytes.count) == 1
        && EVP_DigestFinal_ex(
          pointer, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
    }
    guard succeeded else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "SHA-256 failed")
    }
    return SHA256Digest(
      words: (
        UInt64(bigEndian: words.0), UInt64(bigEndian: words.1), UInt64(bigEndian: words.2),
        UInt64(bigEndian: words.3)
      ))
  }
}
