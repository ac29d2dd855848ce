import EntitlementDomain
import EntitlementStore
import LoadClient
import SQLiteStore
import TestSupport
import Wire

/// What the measurements of a server under stress have in common: how long, and on which customers.
struct StressPlan {
  let rounds: Int
  let seconds: Int
  let customers: BulkCustomers
  /// The customers in PostgreSQL; nil: only in SQLite.
  let postgres: String?
  let progress: Progress
  private let folder: TemporaryFolder

  private static let seed: UInt64 = 1
  /// Commits that are under way while a database is filled.
  private static let commits = 512

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter uri: of a PostgreSQL server whose role may create databases; nil: without one.
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

  /// Where cold reads go, as `--store` takes it: what many nodes would share, where it is there.
  func sharedStore() async throws -> String {
    if let postgres { return postgres }
    return try await sqlite(customers.count)
  }

  /// A SQLite database of the first customers, as `--store` takes it. It is filled at its first use.
  ///
  /// - Parameter name: another one is another database.
  func sqlite(_ count: Int, name: String = "customers") async throws -> String {
    let path = folder.file("\(name)-\(count)")
    let store = try SQLiteStore.open(at: path)
    let first = BulkCustomers.account(at: 0)
    if try await store.customer(.account(first), in: BulkCustomers.scope, .primary).record.revision
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
