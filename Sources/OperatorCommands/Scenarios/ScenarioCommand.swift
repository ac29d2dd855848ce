import ArgumentParser
import Programs
import Scenarios

struct ScenarioCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Runs files with events and the expected answers of the service.",
    subcommands: [ScenarioRunCommand.self])
}

struct ScenarioRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs scenario files, without a server.",
    discussion: """
      The facts of a scenario are signed, verified, stored and read by the real components, on the \
      scenario's own clock. Every difference is printed, and the last line is the count. Exit code \
      0 when all scenarios passed, 1 when one failed, 2 when a file is malformed or cannot be \
      read; the remaining files are still run.
      """)

  @Argument(help: "Files, and folders to search for .yaml, .yml and .json files.")
  var files: [String]

  @Flag(help: "Print the actual states in the form of a scenario file.")
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

  /// The scenario files at the given paths, and an error for each path without one.
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
    if !text.isEmpty { try StandardOutput.write(TerminalText.escaped(text, keepsLines: true)) }
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

  /// A path without a scenario file.
  private struct UnusablePath: Error {
    let path: String
    let error: ScenarioError
  }
}

/// Prints the progress of a long run to stderr, at most once a second and only on a terminal.
struct ScenarioProgress {
  let total: Int
  private var done = 0
  private var lastReport = ContinuousClock.now

  init(total: Int) {
    self.total = total
  }

  mutating func oneDone() {
    done += 1
    let now = ContinuousClock.now
    guard StandardError.isTerminal, done < total, now - lastReport >= .seconds(1) else { return }
    lastReport = now
    StandardError.write("\(done) of \(total) scenarios")
  }
}
