import Glibc
import Programs

/// Data for programs and files.
enum StandardOutput {
  /// Writes all of a text.
  ///
  /// - Throws: ``CommandFailure``: lost output must not look like success. There is nothing to tell
  ///   when its reader has seen what it wanted.
  static func print(_ text: String, terminator: String = "\n") throws(CommandFailure) {
    let code = StandardStream.output.write(text + terminator)
    if code == 0 { return }
    throw CommandFailure(
      .failed,
      code == EPIPE ? nil : "cannot write standard output: \(String(cString: strerror(code)))")
  }
}
