import Foundation
import TestSupport

/// A running `storesim serve`. It is killed when this object is released.
final class RunningSimulator: Sendable {
  /// The virtual time at the start. It stands still.
  static let start = "2026-03-01T12:00:00Z"

  let child: ChildProcess
  let url: String

  /// Starts one on a free port, and waits until it listens.
  init(_ directory: String, _ more: String...) async throws {
    child = try ChildProcess(
      .storesim,
      [
        "serve", "--listen", "127.0.0.1:0", "--directory", directory, "--start",
        Self.start, "--speed", "0",
      ] + more)
    url = try await child.journal.first("listening simulator") { contents in
      if let exit = contents.exit {
        throw HarnessFailure("it ended with \(exit):\n\(contents.errorText)")
      }
      return contents.errorLines.compactMap { line in
        line.hasPrefix("listening on ") ? "http://\(line.dropFirst(13))" : nil
      }.first
    }
  }

  deinit {
    child.signal(SIGKILL)
  }

  /// The settings of a server that it prints.
  func settings() async throws -> String {
    try await child.journal.first("settings") { contents in
      let text = contents.outputText
      return text.contains("# Other clients") && text.hasSuffix("\n") ? text : nil
    }
  }

  func run(_ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.of(.storesim, arguments + ["--server", url])
  }

  /// Runs a command that must succeed, and reads its JSON.
  func json(_ arguments: String...) async throws -> JSONTree {
    let run = try await ProgramRun.of(.storesim, arguments + ["--server", url, "--json"])
    guard run.exit == .code(0) else {
      throw HarnessFailure("\(arguments) ended with \(run.exit): \(run.errors)")
    }
    return try run.document()
  }

  func stop() async throws -> ProgramExit {
    child.signal(SIGTERM)
    return try await child.exit()
  }
}
