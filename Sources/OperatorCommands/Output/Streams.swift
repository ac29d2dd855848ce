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

  /// For a command that may have nothing to write for long.
  ///
  /// - Throws: ``CommandFailure`` without anything to tell when nobody reads it any more.
  static func requireReader() throws(CommandFailure) {
    // Without events to wait for, only what ends it is told.
    var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    guard poll(&descriptor, 1, 0) == 1 else { return }
    if Int32(descriptor.revents) & (POLLERR | POLLHUP) != 0 { throw CommandFailure(.failed, nil) }
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
