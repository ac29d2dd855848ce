import Glibc

/// Data for programs and files.
enum StandardOutput {
  /// Writes all of a text.
  ///
  /// - Throws: ``OutputError``: lost output must not look like success.
  static func print(_ text: String, terminator: String = "\n") throws(OutputError) {
    let bytes = Array((text + terminator).utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { rest in
        write(STDOUT_FILENO, rest.baseAddress, rest.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw OutputError(writingStandardOutput: errno) }
      written += count
    }
  }
}
