import COpenSSL

/// An OpenSSL stream in memory (`BIO`), for PEM in and out.
final class MemoryBuffer {
  let pointer: OpaquePointer

  /// An empty buffer to write to.
  init() throws(CryptographyError) {
    guard let pointer = BIO_new(BIO_s_mem()) else {
      throw CryptographyError(.libraryFault, "no memory for a buffer")
    }
    self.pointer = pointer
  }

  /// A buffer to read `contents` from.
  convenience init(holding contents: [UInt8]) throws(CryptographyError) {
    try self.init()
    var written = 0
    guard contents.isEmpty || BIO_write_ex(pointer, contents, contents.count, &written) == 1,
      written == contents.count
    else { throw CryptographyError(.libraryFault, "no memory for a buffer") }
  }

  deinit {
    // Releases the memory too. Its result tells nothing that could be acted on here.
    _ = BIO_free(pointer)
  }

  /// What was written and not read yet; taking it empties the buffer.
  var bytes: [UInt8] {
    var contents = [UInt8](repeating: 0, count: BIO_ctrl_pending(pointer))
    var count = 0
    guard !contents.isEmpty, BIO_read_ex(pointer, &contents, contents.count, &count) == 1 else {
      return []
    }
    return Array(contents.prefix(count))
  }
}
