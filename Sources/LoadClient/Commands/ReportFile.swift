import Foundation
import Glibc
import Programs

/// Where a report goes.
enum ReportFile {
  /// - Parameter path: `-` is stdout.
  /// - Throws: ``CommandFailure`` when it cannot be written; without a message when nobody reads it.
  static func write(_ text: String, to path: String) throws(CommandFailure) {
    let text = text.hasSuffix("\n") ? text : text + "\n"
    if path == "-" {
      let code = StandardStream.output.write(text)
      if code == 0 { return }
      throw CommandFailure(.failed, code == EPIPE ? nil : "stdout cannot be written")
    }
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw CommandFailure(.failed, "\(path) cannot be written")
    }
  }
}
