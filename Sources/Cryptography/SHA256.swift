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
    try withContext { (context) throws(CryptographyError) in
      try context.start()
      try context.add(bytes)
      return try context.end()
    }
  }

  /// - Throws: ``CryptographyError/Code/libraryFault`` only.
  package static func digest(of bytes: [UInt8]) throws(CryptographyError) -> SHA256Digest {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
      try digest(of: UnsafeRawBufferPointer(buffer))
    }
  }

  /// What many messages begin with, hashed once. Safe on any thread.
  // @unchecked: the context is set up before anybody else sees it, and only copied from after that.
  package final class Beginning: @unchecked Sendable {
    private let context: SHA256Context

    /// - Throws: ``CryptographyError/Code/libraryFault`` only.
    package init(_ bytes: [UInt8]) throws(CryptographyError) {
      context = try SHA256Context(algorithm)
      try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
        try context.add(UnsafeRawBufferPointer(buffer))
      }
    }

    /// The digest of these bytes followed by others.
    ///
    /// - Throws: ``CryptographyError/Code/libraryFault`` only.
    package func digest(
      followedBy rest: UnsafeRawBufferPointer
    ) throws(CryptographyError) -> SHA256Digest {
      try SHA256.withContext { (copy) throws(CryptographyError) in
        try copy.become(context)
        try copy.add(rest)
        return try copy.end()
      }
    }
  }

  private static func withContext(
    _ body: (SHA256Context) throws(CryptographyError) -> SHA256Digest
  ) throws(CryptographyError) -> SHA256Digest {
    let context: SHA256Context
    if let idle = contexts.borrow() {
      context = idle
    } else {
      context = try SHA256Context(algorithm)
    }
    let digest = try body(context)
    // A context that failed is freed instead: its state is unknown.
    contexts.giveBack(context)
    return digest
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

  /// Without an algorithm the context starts over with the one it has, and allocates nothing.
  func start() throws(CryptographyError) {
    try check(EVP_DigestInit_ex2(pointer, nil, nil))
  }

  /// Goes on from where another one is, which stays as it is.
  func become(_ other: SHA256Context) throws(CryptographyError) {
    try check(EVP_MD_CTX_copy_ex(pointer, other.pointer))
  }

  func add(_ bytes: UnsafeRawBufferPointer) throws(CryptographyError) {
    try check(EVP_DigestUpdate(pointer, bytes.baseAddress, bytes.count))
  }

  func end() throws(CryptographyError) -> SHA256Digest {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let outcome = withUnsafeMutableBytes(of: &words) { output in
      EVP_DigestFinal_ex(
        pointer, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
    }
    try check(outcome)
    return SHA256Digest(
      words: (
        UInt64(bigEndian: words.0), UInt64(bigEndian: words.1), UInt64(bigEndian: words.2),
        UInt64(bigEndian: words.3)
      ))
  }

  private func check(_ outcome: CInt) throws(CryptographyError) {
    guard outcome == 1 else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "SHA-256 failed")
    }
  }
}
