import EntitlementDomain
import EntitlementStore
import FoundationEssentials
import GRDB
import Testing

@testable import SQLiteStore

/// A database as version 14 of the schema left it, with ids as text and whole digests. The second
/// halves of the digests, which nothing tells, are invented.
enum VersionFourteenFile {
  /// The tables that version 15 makes anew.
  static let tables = ["facts", "chains", "app_transactions", "account_tokens", "link_history"]

  /// Others whose digests it shortens.
  static let tablesWithDigests = ["documents", "notifications"]

  private static let packedColumns: Set = [
    "identifier", "app_transaction_id", "app_account_token", "previous_chain",
    "original_transaction_id", "token",
  ]

  /// Brings a database of the present version back to version 14.
  static func undo(at path: String) throws {
    let former = try formerSchema()
    let queue = try DatabaseQueue(path: path, configuration: withoutReferences)
    try queue.write { database in
      database.add(function: text)
      database.add(function: reason)
      database.add(function: digest)
      for table in tables {
        try database.execute(
          sql: "CREATE TEMP TABLE present AS SELECT * FROM \(table); DROP TABLE \(table);")
        let (columns, statements) = try #require(former[table])
        try database.execute(sql: statements[0])
        let values = columns.map { column in
          if packedColumns.contains(column) { return "text_of_id(\(column))" }
          return switch column {
          case "reason": "text_of_reason(reason)"
          case "digest": "whole_digest(digest)"
          // After the word `author`: with the token, so that nothing is lost.
          case "author" where table == "link_history":
            "(SELECT substr(CAST(bytes AS TEXT), 8) FROM headers WHERE headers.id = author)"
          default: column
          }
        }
        try database.execute(
          sql: """
            INSERT INTO \(table) (\(columns.joined(separator: ", ")))
              SELECT \(values.joined(separator: ", ")) FROM present ORDER BY 1, 2;
            DROP TABLE present;
            """)
        for index in statements.dropFirst() { try database.execute(sql: index) }
      }
      for table in tablesWithDigests {
        try database.execute(sql: "UPDATE \(table) SET digest = whole_digest(digest)")
      }
      try database.execute(sql: "DROP TABLE refused_claims; PRAGMA user_version = 14")
    }
    try queue.close()
  }

  static var withoutReferences: Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    return configuration
  }

  /// The columns of each table, and the statements that make it and its indexes.
  private static func formerSchema() throws -> [String: ([String], [String])] {
    let queue = try DatabaseQueue()
    return try queue.inDatabase { database in
      for step in Schema.steps.prefix(14) { try database.execute(sql: step) }
      var schema: [String: ([String], [String])] = [:]
      for table in tables {
        schema[table] = (
          try String.fetchAll(
            database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table]),
          try String.fetchAll(
            database,
            sql: """
              SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL
              ORDER BY type = 'table' DESC, name
              """, arguments: [table])
        )
      }
      return schema
    }
  }

  private static let text = DatabaseFunction("text_of_id", argumentCount: 1) { values in
    guard let bytes = Data.fromDatabaseValue(values[0]) else { return nil }
    let text = try PackedIdentifier.text(of: [UInt8](bytes))
    // Of an app transaction without an id.
    return text.hasPrefix("sha256:") ? text + String(text.suffix(32).reversed()) : text
  }

  private static let digest = DatabaseFunction("whole_digest", argumentCount: 1) { values in
    let half = try #require(Data.fromDatabaseValue(values[0]))
    #expect(half.count == PayloadDigest.length)
    return half + Data(half.reversed())
  }

  private static let reason = DatabaseFunction("text_of_reason", argumentCount: 1) { values in
    try #require(Int.fromDatabaseValue(values[0]).flatMap { LinkReason(storedNumber: $0) }).rawValue
  }
}
