import EntitlementDomain
import Foundation
import StoreSimulator
import Testing

/// A server as the target of `entitle-load`.
struct LoadBench {
  let bench: Bench
  let server: RunningServer

  /// - Parameters:
  ///   - store: nil: a new SQLite file.
  ///   - more: further arguments of the server.
  init(store: String? = nil, _ more: String...) async throws {
    bench = try Bench()
    let arguments = store.map(bench.serverArguments(store:)) ?? bench.serverArguments
    server = try await RunningServer.start(arguments + more)
  }

  /// Some fields of the JSON report.
  struct Report: Decodable {
    struct Calls: Decodable {
      let calls: Int
      let errors: [String: Int]
    }

    struct Answers: Decodable {
      let checked: Int
      let wrong: Int
      let faults: [String]
    }

    struct ServerProcess: Decodable {
      let memoryBytesAfter: Int
    }

    struct Idle: Decodable {
      let connections: Int
    }

    let seed: UInt64
    let interrupted: Bool
    let gaveUp: Bool
    let all: Calls
    let kinds: [String: Calls]
    let answers: Answers
    let serverProcess: ServerProcess?
    let idle: Idle?
    let failedConditions: [String]
  }

  /// The app and environment of the customers of `entitle-load`.
  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)

  static let population = ["--customers", "60", "--population-seed", "9"]

  func prepare() async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitleLoad,
      ["prepare", "--server", "\(server.address)", "--authority", bench.authorityPath]
        + Self.population)
  }

  func run(_ arguments: String..., population: [String] = Self.population) async throws
    -> ProgramRun
  {
    try await ProgramRun.of(.entitleLoad, self.arguments(population) + arguments)
  }

  /// The arguments of a run with a report in JSON.
  func arguments(_ population: [String] = Self.population) -> [String] {
    ["run", "--server", "\(server.address)", "--warm-up", "0", "--format", "json"] + population
  }
}
