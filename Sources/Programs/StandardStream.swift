import Glibc

/// The standard streams of a process: data goes to ``output``, all other text to ``error``.
package enum StandardStream: CInt {
  case output = 1
  case error = 2

  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Writes the whole text.
  ///
  /// - Returns: 0, or the `errno` of the failure, such as `EPIPE` if the reader has closed the
  ///   pipe.
  package func write(_ text: String) -> CInt {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}

/// Standard error, for progress, prompts and messages.
package enum StandardError {
  package static var isTerminal: Bool { StandardStream.error.isTerminal }

  /// Writes a line. Errors are ignored: a lost message must not stop the program.
  package static func write(_ text: String) {
    _ = StandardStream.error.write(text + "\n")
  }
}
