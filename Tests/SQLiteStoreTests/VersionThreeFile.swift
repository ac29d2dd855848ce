import EntitlementDomain
import EntitlementStore
import GRDB

@testable import SQLiteStore

/// A database as the third version of the schema left it: all of ``VersionTwoFile``, a fact out of
/// an archived response of a chain that was imported for Bob, and events of the notification of
/// version 1, which speak of Alice's chain.
enum VersionThreeFile {
  static let receipt = Array("a receipt".utf8)

  /// Of a chain of its own.
  static var documentFact: SignedFact {
    var signed = testFact(3)
    signed.fact.authority = .archivedResponse
    signed.signed.proof = .document(receipt)
    return signed
  }

  static let event = FeedEvent(
    kind: .refunded, notificationUUID: NotificationUUID(VersionOneFile.notification),
    originalTransactionID: "1", transactionID: "1")

  static func make(at path: String) throws {
    try VersionTwoFile.make(at: path)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      try database.execute(sql: Schema.version3)
      try database.execute(sql: "PRAGMA user_version = 3")
      try fill(database)
    }
    try queue.close()
  }

  private static func fill(_ database: Database) throws {
    try database.execute(
      sql: """
        INSERT INTO accounts VALUES (2, 2, 'bob', 4, 50);
        INSERT INTO chains VALUES (3, 2, '3', 2, 0, 0, 1);
        INSERT INTO app_transactions VALUES (2, '901', 2, 1);
        INSERT INTO link_history VALUES (3, 3, 2, NULL, NULL, 2, 'imported', 50);
        INSERT INTO link_history VALUES (4, NULL, 2, '901', NULL, 2, 'imported', 50);
        INSERT INTO changes VALUES (4, 2, 2, NULL, 3, 50);
        INSERT INTO changes VALUES (5, 2, 1, NULL, 16, 60);
        INSERT INTO changes VALUES (6, 1, NULL, NULL, 16, 70);
        INSERT INTO headers VALUES (2, x'');
        """)
    try database.execute(
      sql: "INSERT INTO change_events VALUES (5, 0, ?, ?, '1', '1', NULL, NULL, NULL)",
      arguments: [event.kind.rawValue, event.notificationUUID.rawValue])
    try database.execute(
      sql: "INSERT INTO change_events VALUES (6, 0, ?, ?, NULL, NULL, NULL, NULL, NULL)",
      arguments: [event.kind.rawValue, event.notificationUUID.rawValue])
    try database.execute(
      sql: "INSERT INTO documents VALUES (1, ?, ?)",
      arguments: [testDigest(receipt).stored, receipt.stored])
    let signed = documentFact
    try database.execute(
      sql: """
        INSERT INTO facts (
          scope_id, kind, identifier, chain_id, signed_date, is_revoked, is_upgraded, digest,
          header_id, payload, signature, authority, document_id)
        VALUES (2, 1, '3', 3, 2, 0, 0, ?, 2, ?, x'', 0, 1)
        """,
      arguments: [signed.fact.digest.stored, signed.signed.payload.stored])
  }
}
