import Foundation
import Glibc

/// Progress and messages.
enum StandardError {
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Writes a line. That nobody can read it is no reason to stop.
  static func write(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}

/// Where a report goes.
enum ReportFile {
  /// - Parameter path: `-` is stdout.
  /// - Throws: ``LoadFailure`` when it cannot be written; without a message when nobody reads it.
  static func write(_ text: String, to path: String) throws(LoadFailure) {
    let text = text.hasSuffix("\n") ? text : text + "\n"
    if path == "-" { return try writeOutput(Array(text.utf8)[...]) }
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw LoadFailure(.failed, "\(path) cannot be written")
    }
  }

  private static func writeOutput(_ bytes: ArraySlice<UInt8>) throws(LoadFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        let reason = errno == EPIPE ? nil : "stdout cannot be written"
        throw LoadFailure(.failed, reason)
      }
    }
  }
}
