import EntitlementDomain
import EntitlementStore
import Synchronization

/// Fills an empty database with ``BulkCustomers`` by COPY, on several connections.
struct BulkLoader: Sendable {
  let database: Psql
  let customers: BulkCustomers
  let workers: Int
  let progress: Progress

  /// - Throws: ``Subprocess/Failure`` when the database refuses something; its reason is on stderr.
  func run() async throws {
    let scope = BulkCustomers.scope
    let scopeNumber = try database.number(
      """
      INSERT INTO scopes (environment, bundle_id)
      VALUES ('\(scope.environment.rawValue)', '\(scope.bundleID.rawValue)')
      RETURNING id;
      """)
    let headerNumber = try database.number(
      """
      INSERT INTO headers (bytes)
      VALUES ('\(String(decoding: customers.header, as: UTF8.self))')
      RETURNING id;
      """)
    progress.start("loading customers", of: customers.count)
    let chunks = Chunks(count: customers.count)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<workers {
        group.addTask {
          try load(chunks, into: BulkRows(scope: scopeNumber, header: headerNumber))
        }
      }
      try await group.waitForAll()
    }
    progress.say("analysing the tables")
    // As autovacuum would have done by and by. Reads find their rows without visiting dead ones.
    try database.run("SET maintenance_work_mem = '256MB'; VACUUM (ANALYZE);")
    progress.end()
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
  private static let size = 5_000

  private let count: Int
  private let position = Mutex(0)

  init(count: Int) {
    self.count = count
  }

  /// Nil when everything was taken.
  func next() -> Range<Int>? {
    position.withLock { position in
      guard position < count else { return nil }
      let range = position..<min(position + Self.size, count)
      position = range.upperBound
      return range
    }
  }
}
