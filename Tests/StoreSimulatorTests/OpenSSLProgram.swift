import Foundation
import TestSupport

/// The program `openssl`: it reads what is signed here with code that nobody here wrote.
enum OpenSSLProgram {
  /// Runs it and waits for its end.
  ///
  /// - Returns: its exit code and what it printed on stderr.
  static func run(_ arguments: [String]) throws -> (code: Int32, errors: String) {
    let process = Process()
    process.executableURL = URL(filePath: OpenSSL.path ?? "openssl")
    process.arguments = arguments
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    // Read to the end first: a full pipe would stop the program.
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
