import EntitlementDomain
import EntitlementStore
import GRDB

@testable import SQLiteStore

/// A database as the first version of the schema left it, with something in every table: Alice has
/// the chain of fact 1, and the chain of fact 2 is unlinked.
///
/// Written with the first step and the columns that it has, and never with the store's statements,
/// which belong to the current version.
enum VersionOneFile {
  private static let header = Array("eyJhbGciOiJFUzI1NiJ9".utf8)
  private static let signature = [UInt8](repeating: 7, count: 64)

  static let facts = [1, 2].map { number in
    var fact = testFact(number)
    fact.signed.proof = .jws(header: header, signature: signature)
    return fact
  }
  static let notification = "0b6f2c1e-5f0a-4c1d-8a57-3d1d6f9a0001"

  static func make(at path: String, change: (Database) throws -> Void = { _ in }) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      try database.execute(sql: Schema.version1)
      try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
      try database.execute(sql: "PRAGMA user_version = 1")
      try fill(database)
      try change(database)
    }
    try queue.close()
  }

  private static func fill(_ database: Database) throws {
    try database.execute(
      sql: """
        INSERT INTO scopes VALUES (1, 'Production', 'com.example.other');
        INSERT INTO scopes VALUES (2, 'Production', 'com.example.reader');
        INSERT INTO accounts VALUES (1, 2, 'alice', 3, 30);
        INSERT INTO chains VALUES (1, 2, '1', 1, 0, 0);
        INSERT INTO chains VALUES (2, 2, '2', NULL, 2, 20);
        INSERT INTO app_transactions VALUES (2, '900', 1);
        INSERT INTO account_tokens VALUES (2, '7e3fb204-2c8a-4d5f-9b1e-000000000001', 1);
        INSERT INTO link_history VALUES (1, 1, 2, NULL, NULL, 1, 'named', 10);
        INSERT INTO link_history VALUES (2, NULL, 2, '900', NULL, 1, 'named', 30);
        INSERT INTO changes VALUES (1, 1, NULL, 3, 10);
        INSERT INTO changes VALUES (2, NULL, 2, 1, 20);
        INSERT INTO changes VALUES (3, 1, NULL, 2, 30);
        """)
    for (index, fact) in facts.enumerated() {
      try insert(fact, chain: index + 1, into: database)
    }
    try database.execute(
      sql: "INSERT INTO notifications VALUES (1, ?, 2, 'TEST', NULL, NULL, 4, 5, ?, 1, ?, ?)",
      arguments: [
        notification, facts[0].fact.digest.stored, facts[0].signed.payload.stored,
        signature.stored,
      ])
  }

  private static func insert(_ signed: SignedFact, chain: Int, into database: Database) throws {
    try database.execute(
      sql: "INSERT OR IGNORE INTO headers VALUES (1, ?)", arguments: [header.stored])
    try database.execute(
      sql: """
        INSERT INTO facts (
          scope_id, kind, identifier, chain_id, app_account_token, signed_date, is_revoked,
          is_upgraded, digest, header_id, payload, signature)
        VALUES (2, 1, ?, ?, '7e3fb204-2c8a-4d5f-9b1e-000000000001', 2, 0, 0, ?, 1, ?, ?)
        """,
      arguments: [
        signed.fact.key.identifier, chain, signed.fact.digest.stored,
        signed.signed.payload.stored, signature.stored,
      ])
  }
}
