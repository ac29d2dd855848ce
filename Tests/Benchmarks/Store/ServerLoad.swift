import EntitlementDomain
import Glibc
import LoadClient
import RPCClient
import StoreSimulator
import TestSupport
import Wire

/// A whole `entitled` on the database, asked over its own protocol on a Unix socket. Every answer is
/// read from the database: FULLY_CONSISTENT.
final class ServerLoad {
  private let program: Subprocess
  private let client: EntitlementClient
  private let folder: TemporaryFolder
  private let customers: Int

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let patience = Duration.seconds(30)

  /// Starts it. The program is that beside this one.
  init(on database: BenchmarkDatabase) async throws {
    customers = database.customers.count
    folder = try TemporaryFolder()
    let catalog = try folder.write(SimulatedApp.catalogYAML, to: "catalog.yaml")
    let socket = "unix:\(folder.file("socket"))"
    program = try Subprocess([
      Self.entitled, "--listen", socket, "--catalog", catalog, "--store", database.uri,
      "--log-level", "warning",
    ])
    let address = try ServerAddress(parsing: socket)
    let deadline = ContinuousClock.now + Self.patience
    while true {
      do {
        client = try await EntitlementClient.connect(to: address)
        return
      } catch {
        guard ContinuousClock.now < deadline, ProcessTimes(Int(program.identifier)) != nil else {
          throw Failure(description: "entitled did not start")
        }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// Of the server's process.
  var processorTime: Double { ProcessTimes(Int(program.identifier))?.own ?? 0 }

  /// - Returns: how many answers there were.
  func run(inFlight: Int, for duration: Duration, seed: UInt64) async throws -> Int {
    let end = ContinuousClock.now + duration
    let (client, customers) = (client, customers)
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<inFlight {
        group.addTask {
          var generator = SeededGenerator(seed: seed, label: "calls", index: UInt64(task))
          var count = 0
          while ContinuousClock.now < end {
            let account = BulkCustomers.account(at: generator.number(below: customers))
            let answer = try await client.customerState(
              GetCustomerStateRequest(
                customer: .account(account), scope: BulkCustomers.scope,
                consistency: .fullyConsistent))
            guard case .state(let state) = answer, state.revision > 0 else {
              throw Failure(description: "a customer that was loaded is not there")
            }
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
  }

  func stop() async throws {
    await client.close()
    program.signal(SIGTERM)
    try program.end()
  }

  private static var entitled: String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/") + "/entitled"
  }
}
