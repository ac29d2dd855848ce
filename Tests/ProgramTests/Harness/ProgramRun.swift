import Foundation
import TestSupport

/// The result of a program that has ended.
struct ProgramRun: Sendable {
  let output: String
  let errors: String
  let exit: ProgramExit

  /// Runs a program and waits for its end.
  ///
  /// - Parameters:
  /// - input: its stdin.
  ///   - script: see ``ChildProcess``.
  static func of(
    _ program: Program, _ arguments: [String], input: String = "",
    environment: [String: String] = [:], through script: String? = nil
  ) async throws -> ProgramRun {
    let folder = try TemporaryFolder()
    let child = try ChildProcess(
      program, arguments, environment: environment, input: try folder.write(input, to: "input"),
      through: script)
    do {
      let exit = try await child.exit()
      let contents = child.journal.contents
      return ProgramRun(output: contents.outputText, errors: contents.errorText, exit: exit)
    } catch {
      child.signal(SIGKILL)
      throw error
    }
  }

  /// stdout as one JSON document.
  func document<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(output.utf8))
  }

  /// stdout as one JSON document a line.
  func lines<Value: Decodable>(_ type: Value.Type = Value.self) throws -> [Value] {
    try output.split(separator: "\n").map {
      try JSONDecoder().decode(type, from: Data($0.utf8))
    }
  }
}
