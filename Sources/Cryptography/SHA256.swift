import COpenSSL

/// SHA-256 (FIPS 180-4) through OpenSSL's EVP interface. Safe on any thread.
package enum SHA256 {
  // Fetched once: fetching costs more than hashing a payload.
  private static let algorithm: Algorithm? = Algorithm()
  private static let contexts = ContextPool<SHA256Context>()

  /// - Throws: ``CryptographyError/Code/libraryFault`` only.
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

  /// The hash state after a common prefix of many messages. Safe on any thread.
  // @unchecked: the context is not modified after init, only copied.
  package final class Prefix: @unchecked Sendable {
    private let context: SHA256Context

    /// - Throws: ``CryptographyError/Code/libraryFault`` only.
    package init(_ bytes: [UInt8]) throws(CryptographyError) {
      context = try SHA256Context(algorithm)
      try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
        try context.add(UnsafeRawBufferPointer(buffer))
      }
    }

    /// The digest of the prefix followed by `rest`.
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

  /// Hashes many messages, one after the other, in one context. Borrowing a context for each message takes
  /// the lock of the pool twice. Not thread-safe.
  package final class Series {
    private var context: SHA256Context?

    package init() {
      context = contexts.borrow()
    }

    deinit {
      if let context { contexts.giveBack(context) }
    }

    /// - Throws: ``CryptographyError/Code/libraryFault`` only.
    package func digest(of bytes: [UInt8]) throws(CryptographyError) -> SHA256Digest {
      do throws(CryptographyError) {
        let context = try startedContext()
        try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
          try context.add(UnsafeRawBufferPointer(buffer))
        }
        return try context.end()
      } catch {
        // As below, it is not reused.
        context = nil
        throw error
      }
    }

    private func startedContext() throws(CryptographyError) -> SHA256Context {
      // A new context is started already.
      guard let context else {
        let new = try SHA256Context(algorithm)
        context = new
        return new
      }
      try context.start()
      return context
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
    // A context is not reused after a failure: its state is unknown.
    contexts.giveBack(context)
    return digest
  }

  /// The fetched algorithm.
  // @unchecked: a fetched `EVP_MD` is immutable, and its reference count is atomic.
  fileprivate final class Algorithm: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    init?() {
      guard let pointer = EVP_MD_fetch(nil, "SHA256", nil) else { return nil }
      self.pointer = pointer
    }

    deinit { EVP_MD_free(pointer) }
  }
}

/// A reusable `EVP_MD_CTX` for SHA-256.
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

  /// Restarts the context. Passing no algorithm keeps the current one and allocates nothing.
  func start() throws(CryptographyError) {
    try check(EVP_DigestInit_ex2(pointer, nil, nil))
  }

  /// Copies the state of another context.
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

/// A SHA-256 digest, stored inline.
package struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
  /// Four big-endian words, the first bytes first.
  package let words: (UInt64, UInt64, UInt64, UInt64)

  package init(words: (UInt64, UInt64, UInt64, UInt64)) {
    self.words = words
  }

  /// Parses 64 hexadecimal digits in either case; nil for anything else.
  package init?(hexadecimal text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, digit) in digits.enumerated() {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      words[index / 16] = words[index / 16] << 4 | UInt64(value)
    }
    self.words = (words[0], words[1], words[2], words[3])
  }

  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// 64 lower-case hexadecimal digits.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  package var description: String { hexadecimal }

  package static func == (left: Self, right: Self) -> Bool {
    left.words == right.words
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
