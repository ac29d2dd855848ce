import Glibc

/// Data only.
enum StandardOutput {
  /// Writes a line, or several.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written, with nothing to tell when nobody reads
  ///   it any more.
  static func write(_ text: String) throws(CommandFailure) {
    let code = OutputStream.write(text, to: STDOUT_FILENO)
    if code == 0 { return }
    throw CommandFailure(
      .failed,
      code == EPIPE ? nil : "stdout cannot be written: \(String(cString: strerror(code)))")
  }
}

/// Progress, prompts and messages.
enum StandardError {
  /// Writes a line. That nobody can read it is no reason to stop.
  static func write(_ text: String) {
    _ = OutputStream.write(text, to: STDERR_FILENO)
  }
}

private enum OutputStream {
  /// - Returns: 0, or the `errno` of the failure.
  static func write(_ text: String, to descriptor: CInt) -> CInt {
    var rest = Array("\(text)\n".utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
