import Foundation

/// Runs a program and waits for it.
enum Tool {
  /// - Returns: its stdout.
  /// - Throws: ``ChaosFailure`` with its stderr when it failed.
  @discardableResult
  static func run(
    _ command: [String], in folder: String, environment: [String: String] = [:]
  ) async throws -> String {
    let name = "\(folder)/.tool-\(UInt64.random(in: 0...(.max)))"
    let output = (standard: name + ".out", errors: name + ".err")
    defer {
      try? FileManager.default.removeItem(atPath: output.standard)
      try? FileManager.default.removeItem(atPath: output.errors)
    }
    let process = try LocalProcess(command, in: folder, environment: environment, output: output)
    let status = await withTaskCancellationHandler {
      await process.end()
    } onCancel: {
      process.signal(SIGKILL)
    }
    guard status == 0 else {
      let errors = (try? String(contentsOfFile: output.errors, encoding: .utf8)) ?? ""
      throw ChaosFailure("\(command[0]) ended with status \(status): \(errors.suffix(500))")
    }
    return try String(contentsOfFile: output.standard, encoding: .utf8)
  }
}
