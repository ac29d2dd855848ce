import EntitlementDomain
import Foundation
import Programs
import StoreSimulator
import Wire
import TestSupport

/// All that a server needs, in a folder of its own: a simulated App Store, its catalog and a place
/// for the database.
final class Bench: Sendable {
  let folder: TemporaryFolder
  let authority: SigningAuthority
  let authorityPath: String
  let catalogPath: String
  let databasePath: String

  init() throws {
    folder = try TemporaryFolder()
    authorityPath = folder.file("authority")
    authority = try SigningAuthority.loadOrCreate(inDirectory: authorityPath)
    catalogPath = try folder.write(SimulatedApp.catalogYAML, to: "catalog.yaml")
    databasePath = folder.file("entitle.sqlite")
  }

  /// What `entitlectl health` prints for people about a server that serves.
  static let serving = "SERVING, version \(ProgramVersion.current)\n"

  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)

  /// The arguments of a server on a free port of this machine.
  var serverArguments: [String] {
    [
      "--listen", "127.0.0.1:0", "--catalog", catalogPath, "--store", "sqlite:\(databasePath)",
      "--trust-root", "\(authority.rootFingerprint)", "--log-format", "json",
      // Few, so that the tests leave cores to each other.
      "--verification-workers", "2", "--cache-megabytes", "16",
    ]
  }

  /// - Parameter largestFile: in KiB; see ``ChildProcess``.
  func startServer(
    _ more: String..., listeners: Int = 1, largestFile: Int? = nil
  ) async throws -> RunningServer {
    try await RunningServer.start(
      serverArguments + more, listeners: listeners, largestFile: largestFile)
  }

  /// Today's population.
  static func population(_ count: Int, seed: UInt64 = 1) -> Population {
    Population(
      seed: seed, count: count,
      now: Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
  }

  /// Runs `entitlectl` against a server.
  static func control(
    _ server: RunningServer, _ arguments: String..., input: String = ""
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl, arguments + ["--server", "\(server.address)"], input: input)
  }

  /// Hands a population to a server with `storesim`, which must accept all of it.
  ///
  /// - Returns: the last line on stderr, with the counts.
  @discardableResult
  func submit(
    _ population: Population, to server: RunningServer, _ more: String...
  ) async throws -> String {
    let run = try await ProgramRun.of(
      .storesim,
      [
        "submit", "--authority", authorityPath, "--server", "\(server.address)", "--customers",
        "\(population.count)", "--seed", "\(population.seed)", "--at",
        "\(population.now.rawValue)",
      ] + more)
    guard run.exit == .code(0), let summary = run.errors.split(separator: "\n").last else {
      throw HarnessFailure("storesim submit ended with \(run.exit):\n\(run.errors)")
    }
    return String(summary)
  }

  /// Everything that is signed of one life cycle, in the state that it is named after.
  func signed(_ lifeCycle: LifeCycle, seed: UInt64 = 1) throws -> [SignedEvent] {
    let now = Self.population(0).now
    let timeline = Timeline(
      lifeCycle, seed: seed,
      start: SimulatedCalendar.floorDay(now)
        .advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength))
    return try authority.sign(timeline.history(until: now))
  }
}
