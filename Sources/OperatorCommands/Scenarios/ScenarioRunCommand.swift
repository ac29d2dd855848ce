import ArgumentParser
import Programs
import Scenarios

struct ScenarioRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs scenario files, without a server.",
    discussion: """
      What a scenario states is signed, verified, stored and read through the real parts, on the \
      scenario's own clock. Every difference is told, and the last line counts. Exit code 0 when all \
      passed, 1 when a scenario failed, 2 when a file is malformed or cannot be read; the others are \
      run all the same.
      """)

  @Argument(help: "Files, and folders to search for .yaml, .yml and .json files.")
  var files: [String]

  @Flag(help: "Print what was really found, in the form of a scenario file.")
  var showStates = false

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let paths = Self.find(files)
    let runner: ScenarioRunner
    do throws(ScenarioError) {
      runner = try ScenarioRunner()
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
    var progress = ScenarioProgress(total: paths.count)
    var outcomes: [ScenarioOutcome] = []
    for path in paths {
      let outcome = await Self.outcome(of: path, runner)
      if output.output == .table { try write(outcome) }
      outcomes.append(outcome)
      progress.oneDone()
    }
    await runner.close()
    try finish(outcomes)
  }

  /// The files that are named and those in the folders that are, each with what is wrong with a path
  /// where there is none.
  private static func find(_ paths: [String]) -> [Result<String, UnusablePath>] {
    paths.flatMap { path -> [Result<String, UnusablePath>] in
      do throws(ScenarioError) {
        return try ScenarioSearch.files(at: path).map { .success($0) }
      } catch {
        return [.failure(UnusablePath(path: path, error: error))]
      }
    }
  }

  private static func outcome(
    of path: Result<String, UnusablePath>, _ runner: ScenarioRunner
  ) async -> ScenarioOutcome {
    let file: String
    switch path {
    case .success(let found): file = found
    case .failure(let unusable):
      return ScenarioOutcome(file: unusable.path, result: .failure(unusable.error))
    }
    do throws(ScenarioError) {
      return ScenarioOutcome(
        file: file, result: .success(try await runner.run(try Scenario.load(file))))
    } catch {
      return ScenarioOutcome(file: file, result: .failure(error))
    }
  }

  private func write(_ outcome: ScenarioOutcome) throws {
    let text = outcome.text(showingStates: showStates)
    if !text.isEmpty { try StandardOutput.write(TerminalText.visible(text, keepsLines: true)) }
  }

  private func finish(_ outcomes: [ScenarioOutcome]) throws {
    let passed = outcomes.count { $0.hasPassed }
    let count = "\(passed) passed, \(outcomes.count - passed) failed"
    if output.output == .table {
      try StandardOutput.write(count)
    } else {
      try output.write(
        documents: outcomes.map { ScenarioDocument($0, showingStates: showStates) }
      ) { _ in "" }
      StandardError.write(count)
    }
    if outcomes.contains(where: { $0.isUnusable }) { throw CommandFailure(.refused, nil) }
    if passed < outcomes.count { throw CommandFailure(.failed, nil) }
  }

  /// A path that leads to no scenario.
  private struct UnusablePath: Error {
    let path: String
    let error: ScenarioError
  }
}
