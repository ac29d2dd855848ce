import EntitlementStore
import Synchronization

/// The numbers of the headers of JWS. Few signers are about at a time, so those of late are kept in
/// memory.
final class HeaderDirectory: Sendable {
  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let numbers = Mutex<[HeaderKey: Int64]>([:])

  init(pool: PostgresPool, limits: PostgresStoreLimits) {
    self.pool = pool
    self.limits = limits
  }

  /// The numbers of some headers, which get one if they have none.
  func interned(_ headers: [HeaderKey]) async throws(StoreError) -> HeaderNumbers {
    var found = HeaderNumbers()
    for header in headers {
      if let number = numbers.withLock({ $0[header] }) {
        found.add(header, number)
      } else {
        found.add(header, try await intern(header))
      }
    }
    return found
  }

  private func intern(_ header: HeaderKey) async throws(StoreError) -> Int64 {
    // Beside all transactions: a header that nothing uses in the end does no harm.
    let results = try await pool.write(
      [
        PostgresCommand(Self.insert, [.bytes(header.bytes)]),
        PostgresCommand(Self.find, [.bytes(header.bytes)]),
      ], within: limits.writeTimeLimit)
    guard let rows = results.last, rows.count > 0 else {
      throw StoreError(.internalFault, "a header was not stored")
    }
    let number = try rows.number(0, 0)
    numbers.withLock { numbers in
      if numbers.count >= limits.maximumHeldHeaders { numbers.removeAll() }
      numbers[header] = number
    }
    return number
  }

  static let insert = PostgresStatement(
    """
    INSERT INTO headers (bytes) SELECT $1::bytea
    WHERE NOT EXISTS (SELECT 1 FROM headers WHERE sha256(bytes) = sha256($1::bytea))
    ON CONFLICT DO NOTHING
    """, name: "insert_header")
  static let find = PostgresStatement(
    "SELECT id FROM headers WHERE sha256(bytes) = sha256($1::bytea)", name: "find_header")
}
