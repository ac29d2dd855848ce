import EntitlementDomain
import EntitlementStore
import LoadClient
import SQLiteStore
import TestSupport
import Wire

/// The common parameters of the stress measurements: duration and customers.
struct StressPlan {
  let rounds: Int
  let seconds: Int
  let customers: BulkCustomers
  /// The PostgreSQL server of the customers; nil: only SQLite.
  let postgres: String?
  let progress: Progress
  private let folder: TemporaryFolder

  private static let seed: UInt64 = 1
  /// Concurrent commits while a database is filled.
  private static let commits = 512

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter uri: of a PostgreSQL server whose role may create databases; nil without one.
  init(rounds: Int, seconds: Int, customers count: Int, postgres uri: String?, progress: Progress)
    async throws
  {
    self.rounds = rounds
    self.seconds = seconds
    self.progress = progress
    folder = try TemporaryFolder()
    customers = try BulkCustomers(count: count, seed: Self.seed)
    var postgres: String?
    if let uri {
      let server = BenchmarkServer(uri: uri, progress: progress)
      postgres = try await server.database(customers: count, workers: 2).uri
    }
    self.postgres = postgres
  }

  var duration: Duration { .seconds(seconds) }

  /// The `--store` of cold reads: the store that several nodes would share, if there is one.
  func sharedStore() async throws -> String {
    if let postgres { return postgres }
    return try await sqlite(customers.count)
  }

  /// A SQLite database of the first customers, as the value of `--store`. It is filled at its first
  /// use.
  ///
  /// - Parameter name: databases with different names are separate.
  func sqlite(_ count: Int, name: String = "customers") async throws -> String {
    let path = folder.file("\(name)-\(count)")
    let store = try SQLiteStore.open(at: path)
    let first = BulkCustomers.account(at: 0)
    if count > 0,
      try await store.customer(.account(first), in: BulkCustomers.scope, .primary).record.revision
        == 0
    {
      try await fill(store, count)
    }
    await store.close()
    return "sqlite:\(path)"
  }

  private func fill(_ store: SQLiteStore, _ count: Int) async throws {
    progress.start("customers into SQLite", of: count)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        if index >= Self.commits { try await group.next() }
        group.addTask { [customers] in
          _ = try await store.commit(try customers.submission(at: index))
        }
        progress.advance(by: 1)
      }
      try await group.waitForAll()
    }
    progress.end()
  }
}
