import EntitlementDomain
import EntitlementStore
import GRDB
import StoreConformance
import TestSupport
import Testing

@testable import SQLiteStore

/// A database as version 13 of the schema left it, before payloads were compressed: facts of accounts
/// and of receipts, and notifications about one chain, out of which came versions.
struct VersionThirteenFile {
  /// Facts, with a chain each.
  static let numbers = 1_001...1_120
  static let notifications = 60
  static let receipt = Array(String(repeating: "a receipt of one app. ", count: 80).utf8)

  /// The payloads as they were stored, by table and row id.
  let payloads: [PayloadTable: [Int64: [UInt8]]]

  static func make(at path: String) async throws -> VersionThirteenFile {
    let store = try SQLiteStore.open(at: path)
    for number in numbers {
      var fact = testFact(number, padding: number.isMultiple(of: 10) ? 6_000 : 0)
      if number.isMultiple(of: 4) {
        fact.fact.authority = .receipt
        fact.signed.proof = .document(receipt + Array("\(number / 16)".utf8))
      }
      _ = try await store.commit(
        Submission(
          facts: [fact], accountID: AccountID("customer-\(number / 3)"), receivedAt: 3))
    }
    for entry in try NotificationArchive.entries(notifications) {
      _ = try await store.commit(
        Submission(facts: entry.facts, notification: entry.notification, receivedAt: 4))
    }
    await store.close()
    let queue = try DatabaseQueue(path: path)
    let file = try await queue.write { database in
      let file = VersionThirteenFile(payloads: try payloads(in: database))
      for (table, payloads) in file.payloads {
        for (id, payload) in payloads {
          try database.execute(
            sql: "UPDATE \(table.rawValue) SET \(table.column) = ? WHERE id = ?",
            arguments: [payload.stored, id])
        }
      }
      return file
    }
    try queue.close()
    try VersionFourteenFile.undo(at: path)
    let former = try DatabaseQueue(path: path)
    try await former.write { database in
      // The indexes of version 13.
      try database.execute(
        sql: """
          DROP TABLE payload_dictionaries;
          DROP TABLE payload_conversions;
          DROP INDEX facts_by_token;
          DROP INDEX facts_by_app_transaction;
          DROP INDEX link_history_by_app_transaction;
          CREATE INDEX facts_by_app_transaction ON facts (scope_id, app_transaction_id, chain_id)
            WHERE app_transaction_id IS NOT NULL;
          CREATE INDEX facts_by_token ON facts (scope_id, app_account_token, chain_id)
            WHERE app_account_token IS NOT NULL;
          CREATE INDEX link_history_by_app_transaction
            ON link_history (scope_id, app_transaction_id) WHERE app_transaction_id IS NOT NULL;
          PRAGMA user_version = 13;
          """)
    }
    try former.close()
    return file
  }

  /// The payloads that a database stores, expanded. Their digests are compared.
  static func payloads(in database: Database) throws -> [PayloadTable: [Int64: [UInt8]]] {
    let vault = PayloadVault()
    try database.addDictionaries(to: vault)
    var payloads: [PayloadTable: [Int64: [UInt8]]] = [:]
    for table in PayloadTable.allCases {
      for row in try database.rows(table.page, [0, 1_000_000]) {
        payloads[table, default: [:]][row[0]] =
          switch table {
          case .versions:
            try vault.checkedVersion(
              of: row.bytes(1), statement: try #require(StatementDigest(row.bytes(2))),
              authority: SQLiteStoredFact.authority(row, at: 3))
          case .notifications:
            try vault.checkedPayload(
              of: row.bytes(1), digest: row.digest(2), header: row.bytes(3))
          case .facts, .documents:
            try vault.checkedPayload(of: row.bytes(1), digest: row.digest(2))
          }
      }
    }
    return payloads
  }
}

extension PayloadTable {
  /// The column of the payload.
  var column: String { self == .documents ? "bytes" : "payload" }
}
