import EntitlementDomain
package import EntitlementStore
import Logging

// Versions out of notifications that were stored before versions were kept (R53).
extension PostgresStore {
  /// Adds the versions inside the next stored notifications, in the order of their UUIDs. Each call
  /// goes on where the last one of any process ended. Servers may write meanwhile.
  ///
  /// - Returns: the number of notifications; nil when all are done.
  package func addStoredVersions(limit: Int) async throws(StoreError) -> Int? {
    let meta = try await query(VersionStatements.position, [])
    guard let position = try meta.optionalString(0, 0) else { return nil }
    let (rows, facts) = try await dictionaries.retrying { () async throws(StoreError) in
      let rows = try await query(
        VersionStatements.notifications, [.text(position), .int64(Int64(max(1, limit)))])
      var facts: [SignedFact] = []
      for row in 0..<rows.count {
        facts += try NotificationFacts.facts(
          inside: try dictionaries.vault.payload(
            of: try rows.data(row, 1), digest: try rows.digest(row, 2),
            header: try rows.optionalData(row, 3)))
      }
      return (rows, facts)
    }
    if !facts.isEmpty { try await addVersions(facts) }
    let last = rows.count > 0 ? try rows.string(rows.count - 1, 0) : nil
    let isDone = rows.count < max(1, limit)
    _ = try await primary.write(
      [
        PostgresCommand(
          VersionStatements.setPosition,
          [.text(position), isDone ? .null : last.map { .text($0) } ?? .null])
      ], within: limits.writeTimeLimit)
    return rows.count
  }

  private func addVersions(_ facts: [SignedFact]) async throws(StoreError) {
    var headers: [HeaderKey] = []
    for fact in facts {
      guard case .jws(let header, _) = fact.signed.proof else { continue }
      let key = HeaderKey(header)
      if !headers.contains(key) { headers.append(key) }
    }
    try await write(
      LedgerKey.expected(byVersionsOf: facts.map(\.fact)), in: Set(facts.map(\.fact.scope)),
      headers: headers, byteCount: facts.reduce(0) { $0 + $1.signed.payload.count }
    ) { ledger in
      // Without a change of a link or of the feed, so that the moment is not stored.
      try ledger.addVersions(facts, at: 0)
      return { _ in }
    }
  }
}

extension PostgresSchema {
  /// Adds the versions inside all stored notifications (``PostgresStore/addStoredVersions(limit:)``).
  /// Goes on where an interrupted run ended.
  ///
  /// - Parameter report: called now and then with the number of notifications done by this run.
  /// - Returns: the number of notifications done by this run.
  /// - Throws: errors of the database, after some attempts.
  package static func addVersions(
    connection: String, report: @Sendable (Int) -> Void
  ) async throws(StoreError) -> Int {
    let store = try await PostgresStore.open(
      PostgresStoreConfiguration(connection: connection), logger: Logger(label: "migration"))
    do throws(StoreError) {
      let done = try await addVersions(to: store, report: report)
      await store.close()
      return done
    } catch {
      await store.close()
      throw error
    }
  }

  private static func addVersions(
    to store: PostgresStore, report: @Sendable (Int) -> Void
  ) async throws(StoreError) -> Int {
    var done = 0
    var failures = 0
    var lastReport = ContinuousClock.now
    while true {
      do throws(StoreError) {
        guard let count = try await store.addStoredVersions(limit: versionStep) else { return done }
        done += count
        failures = 0
      } catch {
        // A locked customer, or a server that restarts.
        failures += 1
        guard error.code == .unavailable, failures < maximumVersionFailures else { throw error }
        try? await Task.sleep(for: .seconds(1))
      }
      if lastReport + versionReportInterval <= .now {
        report(done)
        lastReport = .now
      }
    }
  }

  /// Notifications of one transaction.
  private static let versionStep = 200
  private static let maximumVersionFailures = 10
  private static let versionReportInterval: Duration = .seconds(2)
}

enum VersionStatements {
  static let position = PostgresStatement(
    "SELECT versions_added_through FROM meta", name: "versions_position")

  /// `$1` the UUID to continue after, `$2` the limit.
  static let notifications = PostgresStatement(
    """
    SELECT notifications.uuid, notifications.payload, \(ReadStatements.notificationDigest),
      headers.bytes
    FROM notifications LEFT JOIN LATERAL (
      SELECT headers.bytes FROM headers WHERE headers.id = notifications.header OFFSET 0)
      AS headers ON true
    WHERE notifications.uuid > $1::text ORDER BY notifications.uuid LIMIT $2::bigint
    """, name: "notifications_for_versions")

  /// Does nothing when another process has gone on. `$1` the former position, `$2` the new one.
  static let setPosition = PostgresStatement(
    """
    UPDATE meta SET versions_added_through = $2::text WHERE versions_added_through = $1::text
    """, name: "set_versions_position")

  static let all = [position, notifications, setPosition]
}
