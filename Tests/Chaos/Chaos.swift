import ArgumentParser
import Dispatch
import Foundation
import Glibc

/// Breaks parts of a running service at random, and checks that its answers hold.
@main
struct Chaos: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Break parts of a running service at random, and check that its answers hold.")

  @Option(help: "How long faults are made, from 1 to 1440 minutes.")
  var minutes = 2

  @Option(help: "Seed of a run to repeat; by default a random one, which is printed.")
  var seed: UInt64?

  @Option(help: "A new folder for all data; it must be absent or empty.")
  var directory: String

  @Option(help: "The folder for the logs of servers and databases.")
  var logs: String

  @Option(help: "The folder of initdb and postgres; by default the newest of Debian's.")
  var postgresPrograms: String?

  @Flag(help: "Keep the data after the run.")
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
    // In a task that the interrupt does not cancel.
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
