import Glibc

/// Where what a program says goes: data to ``output``, everything else to ``error``.
package enum StandardStream: CInt {
  case output = 1
  case error = 2

  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Writes all of a text.
  ///
  /// - Returns: 0, or the `errno` of the failure: `EPIPE` when nobody reads it any more.
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

/// Progress, prompts and messages.
package enum StandardError {
  package static var isTerminal: Bool { StandardStream.error.isTerminal }

  /// Writes a line. That nobody can read it is no reason to stop.
  package static func write(_ text: String) {
    _ = StandardStream.error.write(text + "\n")
  }
}
