import EntitlementDomain
import EntitlementStore
import GRDB
import StoreConformance
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Versions out of notifications that an older version stored (R53)")
struct VersionMigrationTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// Makes a database of a version of the schema, with stored notifications and the facts that stand
  /// after them.
  private func makeFile(version: Int, entries: [NotificationArchive.Entry]) throws {
    switch version {
    case 1: try VersionOneFile.make(at: path)
    case 2: try VersionTwoFile.make(at: path)
    default: try VersionThreeFile.make(at: path)
    }
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      if version == 4 {
        try database.execute(sql: Schema.version4)
        try database.execute(sql: "PRAGMA user_version = 4")
      }
      try database.execute(
        sql: """
          INSERT INTO chains (id, scope_id, original_transaction_id, revision, updated_at)
          VALUES (77, 2, '77', 3, 30);
          """)
      for fact in try #require(entries.last).facts { try insert(fact, into: database) }
      for entry in entries {
        let record = entry.notification.record
        guard case .jws(_, let signature) = entry.notification.signed.proof else { continue }
        try database.execute(
          sql: """
            INSERT INTO notifications (
              uuid, scope_id, type, signed_date, received_at, digest, header_id, payload, signature)
            VALUES (?, 2, ?, ?, 5, ?, 1, ?, ?)
            """,
          arguments: [
            record.uuid.rawValue, record.type, record.signedDate?.rawValue, record.digest.stored,
            entry.notification.signed.payload.stored, signature.stored,
          ])
      }
    }
    try queue.close()
  }

  private func insert(_ signed: SignedFact, into database: Database) throws {
    guard case .jws(_, let signature) = signed.signed.proof else { return }
    try database.execute(
      sql: """
        INSERT INTO facts (
          scope_id, kind, identifier, chain_id, signed_date, is_revoked, is_upgraded, digest,
          header_id, payload, signature)
        VALUES (2, ?, ?, 77, ?, 0, 0, ?, 1, ?, ?)
        """,
      arguments: [
        signed.fact.key.kind.rawValue, signed.fact.key.identifier,
        signed.fact.precedence.signedDate.rawValue, signed.fact.digest.stored,
        signed.signed.payload.stored, signature.stored,
      ])
  }

  @Test("The versions are added to a database of each older version", arguments: 1...4)
  func migration(version: Int) async throws {
    try makeFile(version: version, entries: try NotificationArchive.entries(16))
    for _ in 0..<2 {
      let store = try SQLiteStore.open(at: path)
      try await NotificationArchive.check(16, in: store)
      let end = try await store.feedEnd()
      #expect(try await store.changes(after: 3, limit: 10).count == Int(end) - 3)
      await store.close()
    }
    let queue = try DatabaseQueue(path: path)
    let isDone = try await queue.read {
      try Bool.fetchOne($0, sql: "SELECT versions_added_through IS NULL FROM feed")
    }
    #expect(isDone == true)
    try queue.close()
  }

  @Test("An interrupted migration goes on at the next start, with the same result")
  func interruption() async throws {
    let count = VersionMigration.stepLength * 2 + 50
    try makeFile(version: 4, entries: try NotificationArchive.entries(count))
    let queue = try DatabaseQueue(path: path)
    let isUnfinished = try queue.inDatabase { database in
      try Schema.migrate(database, creates: true)
      return try VersionMigration.step(database, PayloadVault())
    }
    #expect(isUnfinished)
    let position = try await queue.read {
      try Int.fetchOne($0, sql: "SELECT versions_added_through FROM feed")
    }
    #expect(position ?? 0 >= VersionMigration.stepLength)
    try queue.close()
    let store = try SQLiteStore.open(at: path)
    try await NotificationArchive.check(count, in: store)
    await store.close()
  }
}
