import EntitlementDomain
import EntitlementStore
import GRDB

/// Adds the versions inside notifications that were stored before versions were kept (R53). Each step
/// is a transaction of its own, so that an interrupted migration goes on at the next start.
enum VersionMigration {
  /// Notifications of one step. A step takes some milliseconds.
  static let stepLength = 200

  static func run(_ database: Database, _ vault: PayloadVault) throws {
    while try step(database, vault) {}
  }

  /// - Returns: whether notifications are left.
  static func step(_ database: Database, _ vault: PayloadVault) throws -> Bool {
    var isUnfinished = false
    try database.inTransaction(.immediate) {
      guard let position: Int64 = try database.row(.versionsPosition, [])?[0] else {
        return .commit
      }
      var facts: [SignedFact] = []
      var last = position
      var count = 0
      try database.forEachRow(.notificationsForVersions, [position, stepLength]) { row in
        last = row[0]
        count += 1
        let payload = try vault.payload(
          of: row.bytes(1), digest: row.digest(2), header: row.bytes(3))
        facts += try NotificationFacts.facts(inside: payload)
      }
      _ = try SQLiteChangesWriter.write(to: database, vault: vault) { ledger in
        // Without a change of a link or of the feed, so that the moment is not stored.
        try ledger.addVersions(facts, at: 0)
      }
      isUnfinished = count == stepLength
      try database.run(.setVersionsPosition, [isUnfinished ? last : nil])
      return .commit
    }
    return isUnfinished
  }
}
