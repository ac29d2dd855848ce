import EntitlementDomain
import Foundation
import Programs
import StoreSimulator
import TestSupport
import Wire

/// The files of a server, in a new folder: a simulated App Store, its catalog and a path for the
/// database.
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

  /// The first line of the text output of `entitlectl health` for a serving server.
  static let serving = "SERVING, version \(ProgramVersion.current)\n"

  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)

  /// The arguments of a server on a free port of the loopback address, with a new SQLite file.
  var serverArguments: [String] {
    serverArguments(store: "sqlite:\(databasePath)") + ["--create"]
  }

  func serverArguments(store: String) -> [String] {
    [
      "--listen", "127.0.0.1:0", "--catalog", catalogPath, "--store", store,
      "--trust-root", "\(authority.rootFingerprint)",
      "--trust-root", "production=\(authority.rootFingerprint)", "--log-format", "json",
      // Small numbers, so that concurrent tests leave each other processors.
      "--verification-workers", "2", "--cache-megabytes", "16",
    ]
  }

  /// - Returns: the connection string of a new database with the schema of this version.
  static func migratedDatabase(of cluster: EphemeralPostgres) async throws -> String {
    let connection = try cluster.makeDatabase()
    let migration = try await ProgramRun.of(
      .entitlectl, ["database", "migrate", "--database", connection])
    guard migration.exit == .code(0) else {
      throw HarnessFailure("the migration ended with \(migration.exit):\n\(migration.errors)")
    }
    return connection
  }

  /// - Parameter largestFile: in KiB; see ``ChildProcess``.
  func startServer(
    _ more: String..., listeners: Int = 1, largestFile: Int? = nil
  ) async throws -> RunningServer {
    try await RunningServer.start(
      serverArguments + more, listeners: listeners, largestFile: largestFile)
  }

  /// A population up to the current date.
  static func population(
    _ count: Int, seed: UInt64 = 1, environment: StoreEnvironment = scope.environment
  ) -> Population {
    Population(
      seed: seed, count: count, now: Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)),
      environment: environment)
  }

  /// Runs `entitlectl` against a server.
  static func control(
    _ server: RunningServer, _ arguments: String..., input: String = ""
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl, arguments + ["--server", "\(server.address)"], input: input)
  }

  /// Submits a population to a server with `storesim`. The server must accept all of it.
  ///
  /// - Returns: the last line of stderr, with the counts.
  @discardableResult
  func submit(
    _ population: Population, to server: RunningServer, _ more: String...
  ) async throws -> String {
    let run = try await ProgramRun.of(
      .storesim,
      [
        "submit", "--authority", authorityPath, "--server", "\(server.address)", "--customers",
        "\(population.count)", "--seed", "\(population.seed)", "--at",
        "\(population.now.rawValue)", "--environment", population.environment.rawValue,
      ] + more)
    guard run.exit == .code(0), let summary = run.errors.split(separator: "\n").last else {
      throw HarnessFailure("storesim submit ended with \(run.exit):\n\(run.errors)")
    }
    return String(summary)
  }

  /// Everything that is signed for one life cycle, up to the date with the state of its name.
  func signed(_ lifeCycle: LifeCycle, seed: UInt64 = 1) throws -> [SignedEvent] {
    let now = Self.population(0).now
    let timeline = Timeline(
      lifeCycle, seed: seed,
      start: SimulatedCalendar.floorDay(now)
        .advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength))
    return try authority.sign(timeline.history(until: now))
  }
}
