package import EntitlementDomain
package import EntitlementStore
import Foundation
import Synchronization

/// A source of customers for bulk loading. Each customer is made from its index alone.
package protocol BulkSource: Sendable {
  /// The app and environment of all customers.
  var scope: AppScope { get }
  var count: Int { get }
  /// The first account. Accounts are consecutive numbers of ten digits.
  var firstAccount: Int { get }
  /// The JWS header of all signed payloads.
  var header: [UInt8] { get }

  /// The submission of the customer with an index from 0.
  func submission(at index: Int) throws -> Submission
}

/// Reports the progress of a long step.
package protocol BulkProgress: Sendable {
  /// Begins a step with `total` parts.
  func start(_ name: String, of total: Int)
  /// Reports `count` further parts as done.
  func advance(by count: Int)
  /// Ends the step.
  func end()
  /// Shows a message within the step.
  func say(_ text: String)
}

/// Loads the customers of a ``BulkSource`` into a database with COPY, over several connections. The
/// database must be empty, or contain customers of an interrupted run of the same source.
package struct BulkLoader: Sendable {
  private let database: Psql
  private let customers: any BulkSource
  private let workers: Int
  private let progress: any BulkProgress

  /// - Parameter workers: the number of connections that load at the same time.
  package init(
    database: Psql, customers: any BulkSource, workers: Int, progress: any BulkProgress
  ) {
    self.database = database
    self.customers = customers
    self.workers = workers
    self.progress = progress
  }

  /// - Throws: ``Subprocess/Failure`` when `psql` fails; its message is on stderr.
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
    // Autovacuum would do the same later. Reads then need not visit dead rows.
    try database.run("SET maintenance_work_mem = '256MB'; VACUUM (ANALYZE);")
    progress.end()
  }

  private func scopeNumber() throws -> Int64 {
    let scope = customers.scope
    let (environment, bundleID) = (scope.environment.rawValue, scope.bundleID.rawValue)
    return try database.number(
      """
      INSERT INTO scopes (environment, bundle_id) VALUES ('\(environment)', '\(bundleID)')
      ON CONFLICT DO NOTHING;
      SELECT id FROM scopes WHERE environment = '\(environment)' AND bundle_id = '\(bundleID)';
      """)
  }

  /// Any header will do, because the payloads of these customers are not really signed.
  private func headerNumber() throws -> Int64 {
    try database.number(
      """
      INSERT INTO headers (bytes)
      SELECT '\(String(decoding: customers.header, as: UTF8.self))'
      WHERE NOT EXISTS (SELECT FROM headers WHERE \(Self.isHeader));
      SELECT min(id) FROM headers WHERE \(Self.isHeader);
      """)
  }

  /// Authors of links are stored with the headers.
  private static let isHeader = "NOT starts_with(encode(bytes, 'escape'), 'author')"

  /// The chunks that were loaded. Each is one transaction.
  private func loadedChunks() throws -> Set<Int> {
    let rows = try database.run(
      """
      SELECT DISTINCT (account::bigint - \(customers.firstAccount)) / \(Chunks.size)
      FROM accounts WHERE account ~ '^[0-9]{10}$';
      """)
    return Set(rows.split(whereSeparator: \.isNewline).compactMap { Int($0) })
  }

  /// Runs blocking calls on a thread of its own. The cooperative pool has only one thread per
  /// processor, which other tasks need.
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
    // A run that a crash interrupted is repeated.
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

/// The chunks that are left to load.
private final class Chunks: Sendable {
  /// About 30 MB of rows, committed by one transaction.
  static let size = 5_000

  /// The number of customers that are left to load.
  let customers: Int
  private let ranges: Mutex<ArraySlice<Range<Int>>>

  /// - Parameter loaded: the numbers of chunks that are loaded already.
  init(count: Int, without loaded: Set<Int>) {
    let ranges = stride(from: 0, to: count, by: Self.size)
      .filter { !loaded.contains($0 / Self.size) }
      .map { $0..<min($0 + Self.size, count) }
    customers = ranges.reduce(0) { $0 + $1.count }
    self.ranges = Mutex(ranges[...])
  }

  /// The next chunk; nil when there is none.
  func next() -> Range<Int>? {
    ranges.withLock { $0.popFirst() }
  }

  /// Drops the remaining chunks.
  func stop() {
    ranges.withLock { $0 = [] }
  }
}

/// The ledger's view of a customer without any stored rows.
struct EmptyLedgerReader: LedgerReading {
  func standingFact(_ fact: ScopedFact) -> StandingFact? { nil }
  func link(of target: ScopedTarget) -> LinkRow? { nil }
  func events(of target: ScopedTarget) -> [LinkEvent] { [] }
  func refusedClaim(_ key: RefusedClaim.Key) -> Milliseconds? { nil }
  func account(_ account: ScopedAccount) -> AccountRow? { nil }
  func token(_ token: ScopedToken) -> TokenRow? { nil }
  func hints(of chain: OriginalTransactionID, in scope: AppScope) -> [FactHintsRow] { [] }
  func facts(of target: ScopedTarget) -> [Fact] { [] }
  func unlinkedChains(with hint: ScopedHint) -> [OriginalTransactionID] { [] }
  func grant(_ grant: ScopedGrant) -> Grant? { nil }
  func holdings(of account: ScopedAccount) -> AccountHoldings { AccountHoldings() }
  func isKnown(_ notification: NotificationUUID) -> Bool { false }
  func job(_ reference: AppStoreJobReference) -> AppStoreJob? { nil }
  func consumption(_ key: ConsumptionKey) -> ConsumptionRecord? { nil }
  func consent(of account: ScopedAccount) -> ConsumptionConsent? { nil }
}
