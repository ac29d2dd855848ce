import EntitlementDomain
import GRDB

@testable import SQLiteStore

/// A database as the second version of the schema left it: all of ``VersionOneFile``, a fact of
/// receipt authority, and a grant.
enum VersionTwoFile {
  static let grant = Grant(
    id: "5d0c9f2a-7b1e-4e63-9a44-000000000002", scope: testScope, accountID: "alice",
    entitlementID: "pro", starts: 1, reason: "a gift", author: "otto", createdAt: 40)

  /// Fact 2 of version 1.
  static var receiptFact: SignedFact {
    var fact = VersionOneFile.facts[1]
    fact.fact.authority = .receipt
    return fact
  }

  static func make(at path: String) throws {
    try VersionOneFile.make(at: path)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      try database.execute(sql: Schema.version2)
      try database.execute(sql: "PRAGMA user_version = 2")
      try database.execute(
        sql: """
          UPDATE facts SET authority = 1 WHERE identifier = '2';
          INSERT INTO grants
            VALUES (1, 2, '5d0c9f2a-7b1e-4e63-9a44-000000000002', 1, 'pro', 1, NULL, 'a gift',
              'otto', 40, NULL, NULL, NULL);
          """)
    }
    try queue.close()
  }
}
