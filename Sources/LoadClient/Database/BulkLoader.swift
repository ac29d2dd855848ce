import EntitlementDomain
import EntitlementStore
import Foundation
import Synchronization

/// Fills a database with ``BulkCustomers`` by COPY, on several connections. It holds nothing else, or
/// some of them from an attempt that was interrupted.
package struct BulkLoader: Sendable {
  private let database: Psql
  private let customers: BulkCustomers
  private let workers: Int
  private let progress: Progress

  package init(database: Psql, customers: BulkCustomers, workers: Int, progress: Progress) {
    self.database = database
    self.customers = customers
    self.workers = workers
    self.progress = progress
  }

  /// - Throws: ``Subprocess/Failure`` when the database refuses something; its reason is on stderr.
  package func run() async throws {
    let scopeNumber = try scopeNumber()
    let headerNumber = try headerNumber()
    let chunks = Chunks(count: customers.count, without: try loadedChunks())
    progress.start("loading customers", of: chunks.customers)
    let rows = BulkRows(scope: scopeNumber, header: headerNumber)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<workers {
        group.addTask { try await onThread(stopping: chunks) { try load(chunks, into: rows) } }
      }
      try await group.waitForAll()
    }
    try Task.checkCancellation()
    progress.say("analysing the tables")
    // As autovacuum would have done by and by. Reads find their rows without visiting dead ones.
    try database.run("SET maintenance_work_mem = '256MB'; VACUUM (ANALYZE);")
    progress.end()
  }

  private func scopeNumber() throws -> Int64 {
    let scope = BulkCustomers.scope
    let (environment, bundleID) = (scope.environment.rawValue, scope.bundleID.rawValue)
    return try database.number(
      """
      INSERT INTO scopes (environment, bundle_id) VALUES ('\(environment)', '\(bundleID)')
      ON CONFLICT DO NOTHING;
      SELECT id FROM scopes WHERE environment = '\(environment)' AND bundle_id = '\(bundleID)';
      """)
  }

  /// Any will do: nobody signed the customers.
  private func headerNumber() throws -> Int64 {
    try database.number(
      """
      INSERT INTO headers (bytes)
      SELECT '\(String(decoding: customers.header, as: UTF8.self))'
      WHERE NOT EXISTS (SELECT FROM headers);
      SELECT min(id) FROM headers;
      """)
  }

  /// Each was loaded as a whole.
  private func loadedChunks() throws -> Set<Int> {
    let rows = try database.run(
      """
      SELECT DISTINCT (account::bigint - \(BulkCustomers.firstAccount)) / \(Chunks.size)
      FROM accounts WHERE account ~ '^[0-9]{10}$';
      """)
    return Set(rows.split(whereSeparator: \.isNewline).compactMap { Int($0) })
  }

  /// Runs what waits for a database, on a thread of its own: the threads of tasks are as few as the
  /// processors, and others need them.
  private func onThread(
    stopping chunks: Chunks, _ body: @escaping @Sendable () throws -> Void
  ) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
      }
    } onCancel: {
      chunks.stop()
    }
  }

  private func load(_ chunks: Chunks, into empty: BulkRows) throws {
    var rows = empty
    let session = try database.session()
    // What a crash loses is loaded again from the beginning.
    try session.write(Array("SET synchronous_commit = off;\n".utf8))
    while let range = chunks.next() {
      for index in range {
        var ledger = Ledger(reader: EmptyLedgerReader())
        _ = try ledger.commit(try customers.submission(at: index))
        try rows.add(ledger.changes, ofCustomer: index)
      }
      try session.write(rows.script)
      rows.removeAll()
      progress.advance(by: range.count)
    }
    try session.end()
  }
}

/// What is left to be loaded.
private final class Chunks: Sendable {
  /// Some 30 MB of rows, which one transaction commits.
  static let size = 5_000

  /// How many are to be loaded.
  let customers: Int
  private let ranges: Mutex<ArraySlice<Range<Int>>>

  /// - Parameter loaded: numbers of chunks.
  init(count: Int, without loaded: Set<Int>) {
    let ranges = stride(from: 0, to: count, by: Self.size)
      .filter { !loaded.contains($0 / Self.size) }
      .map { $0..<min($0 + Self.size, count) }
    customers = ranges.reduce(0) { $0 + $1.count }
    self.ranges = Mutex(ranges[...])
  }

  /// Nil when everything was taken.
  func next() -> Range<Int>? {
    ranges.withLock { $0.popFirst() }
  }

  /// Leaves what is left.
  func stop() {
    ranges.withLock { $0 = [] }
  }
}
