import EntitlementDomain
import EntitlementStore

@testable import PostgresStore

/// A transaction of another session that stays open and idle until it is ended.
final class OpenTransaction: Sendable {
  /// Assigns a transaction id.
  static let number = "SELECT pg_current_xact_id()::text"

  private let pool: PostgresPool
  private let finish: AsyncStream<Void>.Continuation
  private let holder: Task<Void, any Error>

  /// A transaction that holds the locks of accounts.
  convenience init(
    _ connection: String, locking accounts: [AccountID], in store: PostgresStore
  ) async throws {
    let numbers = try await store.scopes.interned([StoreSample.scope], by: .now + .seconds(60))
    let names = accounts.map { account in
      LockName.of(.account(ScopedAccount(StoreSample.scope, account)), numbers)
    }
    let texts = names.map { "('\($0)')" }.joined(separator: ", ")
    try await self.init(
      connection,
      """
      SELECT count(pg_advisory_xact_lock(hashtextextended(name, 0)))::text
      FROM (VALUES \(texts)) AS names (name)
      """)
  }

  /// - Parameter sql: statements without parameters to run in the transaction.
  init(_ connection: String, _ sql: String...) async throws {
    let pool = try PostgresPool.forMigration(connection)
    let (stream, finish) = AsyncStream.makeStream(of: Void.self)
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    self.pool = pool
    self.finish = finish
    // No timeout for the idle transaction.
    let texts = ["BEGIN", "SET LOCAL idle_in_transaction_session_timeout = 0"] + sql
    holder = Task {
      defer { hasBegun.finish() }
      try await pool.withSession(within: .seconds(60)) { session throws(PostgresFailure) in
        _ = try await session.exchange(
          texts.map { ConnectionFixture.command($0) }, within: .seconds(60))
        hasBegun.yield()
        for await _ in stream {}
      }
    }
    for await _ in begun { return }
    // The transaction has failed.
    try await holder.value
  }

  func end() async {
    finish.finish()
    // The server may have been stopped.
    _ = try? await holder.value
    await pool.close()
  }
}
