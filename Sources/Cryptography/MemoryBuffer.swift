import COpenSSL

/// An in-memory `BIO` of OpenSSL, for reading and writing PEM.
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
    // Also frees the memory. A failure cannot be handled here.
    _ = BIO_free(pointer)
  }

  /// The unread bytes. Reading them empties the buffer.
  var bytes: [UInt8] {
    var contents = [UInt8](repeating: 0, count: BIO_ctrl_pending(pointer))
    var count = 0
    guard !contents.isEmpty, BIO_read_ex(pointer, &contents, contents.count, &count) == 1 else {
      return []
    }
    return Array(contents.prefix(count))
  }
}
