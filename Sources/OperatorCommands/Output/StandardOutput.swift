import Glibc
import Programs

/// Data only.
enum StandardOutput {
  /// Writes a line, or several.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written, with nothing to tell when nobody reads
  ///   it any more.
  static func write(_ text: String) throws(CommandFailure) {
    let code = StandardStream.output.write(text + "\n")
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
