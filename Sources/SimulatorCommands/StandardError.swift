import Glibc

/// Messages for people.
enum StandardError {
  /// Writes a line. That nobody reads it is no reason to stop.
  static func print(_ message: String) {
    let line = Array("\(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
