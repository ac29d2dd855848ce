import Glibc
import Programs

/// Writes data to stdout.
enum StandardOutput {
  /// Writes text and a line break.
  ///
  /// - Throws: ``CommandFailure`` when writing fails; without a message when the reader has closed
  ///   the pipe.
  static func write(_ text: String) throws(CommandFailure) {
    let code = StandardStream.output.write(text + "\n")
    if code == 0 { return }
    throw CommandFailure(
      .failed,
      code == EPIPE ? nil : "stdout cannot be written: \(String(cString: strerror(code)))")
  }

  /// Checks that stdout still has a reader. For commands that may write nothing for a long time.
  ///
  /// - Throws: ``CommandFailure`` without a message when the reader has closed the pipe.
  static func requireReader() throws(CommandFailure) {
    // Without requested events, `poll` reports errors and hang-ups only.
    var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    guard poll(&descriptor, 1, 0) == 1 else { return }
    if Int32(descriptor.revents) & (POLLERR | POLLHUP) != 0 { throw CommandFailure(.failed, nil) }
  }
}
