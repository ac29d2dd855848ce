import ArgumentParser
import Dispatch
import Foundation
import Glibc

/// Breaks the parts of a running service at random, and looks whether what was answered holds.
@main
struct Chaos: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Break a running service at random, and check that what it answered holds.")

  @Option(help: "How long things are broken, from 1 to 1440 minutes.")
  var minutes = 2

  @Option(help: "Repeats the faults of a run; its own, which is printed, when absent.")
  var seed: UInt64?

  @Option(help: "A new folder for all data; it must not exist, or be empty.")
  var directory: String

  @Option(help: "The folder for the logs of servers and databases.")
  var logs: String

  @Option(help: "The folder of initdb and postgres; the newest of Debian's when absent.")
  var postgresPrograms: String?

  @Flag(help: "Leave the data behind, for a look at it.")
  var keep = false

  func validate() throws {
    guard (1...1_440).contains(minutes) else {
      throw ValidationError("--minutes is a number from 1 to 1440.")
    }
  }

  func run() async throws {
    let seed = seed ?? .random(in: 0...999_999)
    let run = ChaosRun(
      seed: seed, minutes: minutes, folder: directory, logs: logs,
      programs: try DatabasePrograms.find(in: postgresPrograms))
    let work = Task { try await run.run() }
    let signals = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { work.cancel() }
      source.resume()
      return source
    }
    let result = await work.result
    // In a task that an interrupt has not cancelled.
    await Task { await run.cleanUp(keeping: keep) }.value
    withExtendedLifetime(signals) {}
    switch result {
    case .success(let isClean):
      if !isClean { throw ExitCode(1) }
    case .failure(let error):
      if work.isCancelled {
        print("interrupted; seed \(seed)")
        throw ExitCode(130)
      }
      print("failed: \(error); seed \(seed)")
      throw ExitCode(1)
    }
  }
}
