import EntitlementDomain
import EntitlementStore
import LoadClient
import Logging
import PostgresBulkLoader
import PostgresStore

/// The rows that a store writes for one submission, as a pgbench script that inserts the same rows
/// for a new customer each time.
struct SampleRows {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let script: String
  /// The rows of one submission.
  let count: Int

  /// Tables that a submission does not write again: apps, signers, the schema; and the token that
  /// detects whether a commit took effect.
  private static let otherTables = [
    "meta", "scopes", "headers", "commit_tokens", "schema_migrations",
  ]
  private static let separator: Character = "\u{1f}"
  private static let null = "\u{1e}"

  /// - Parameter submission: one transaction of a new customer.
  init(of submission: Submission, on server: BenchmarkServer) async throws {
    guard let account = submission.accountID, submission.facts.count == 1,
      case .transaction(let fact) = submission.facts[0].fact
    else { throw Failure(description: "the sample is not one transaction under an account") }
    let identifiers = [
      account.rawValue, fact.transactionID.rawValue, fact.appTransactionID?.rawValue ?? "",
      fact.appAccountToken?.rawValue ?? "",
    ].filter { !$0.isEmpty }
    let rows = try await server.withEmptyDatabase { database in
      let store = try await PostgresStore.open(
        PostgresStoreConfiguration(connection: database.uri),
        logger: Logger(label: "benchmark"))
      _ = try await store.commit(submission)
      await store.close()
      return try Self.rows(of: database)
    }
    // Feed numbers and dependent numbers, derived from the transaction id as the store does.
    let base = rows.flatMap(\.values).compactMap(\.sequence).min() ?? 1
    let inserts = rows.map { row in
      let values = row.values.map { Self.expression($0, identifiers: identifiers, base: base) }
      return """
        INSERT INTO \(row.table) (\(row.values.map(\.column).joined(separator: ", ")))
        VALUES (\(values.joined(separator: ", ")));
        """
    }
    count = inserts.count
    script = """
      \\set number :number + 1
      \\set id :first + :client_id * 10000000 + :number
      BEGIN;
      \(inserts.joined(separator: "\n"))
      COMMIT;

      """
  }

  private struct Row {
    let table: String
    let values: [Value]
  }

  private struct Value {
    let column: String
    let type: String
    /// Nil for NULL.
    let text: String?

    /// The value, if it is a feed number.
    var sequence: Int64? {
      guard ["sequence", "revision", "position", "event_position"].contains(column), let text
      else { return nil }
      return Int64(text).flatMap { $0 > 0 ? $0 : nil }
    }
  }

  /// Every row of the tables that a submission writes.
  private static func rows(of database: Psql) throws -> [Row] {
    let except = otherTables.map { "'\($0)'" }.joined(separator: ", ")
    let columns = try database.run(
      """
      SELECT relname, attname, format_type(atttypid, atttypmod)
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND attnum > 0 AND NOT attisdropped AND relname NOT IN (\(except))
      ORDER BY relname, attnum;
      """)
    var tables: [(name: String, columns: [(name: String, type: String)])] = []
    for line in columns.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: "|").map(String.init)
      guard fields.count == 3 else { throw Failure(description: "psql's answer is not understood") }
      if tables.last?.name != fields[0] { tables.append((fields[0], [])) }
      tables[tables.count - 1].columns.append((fields[1], fields[2]))
    }
    var rows: [Row] = []
    for table in tables {
      let text = try database.run(
        "SELECT * FROM \(table.name);", separator: String(separator), null: null)
      for line in text.split(separator: "\n") {
        let fields = line.split(separator: separator, omittingEmptySubsequences: false)
        guard fields.count == table.columns.count else {
          throw Failure(description: "a row of \(table.name) is not understood")
        }
        rows.append(
          Row(
            table: table.name,
            values: zip(table.columns, fields).map { column, field in
              Value(
                column: column.name, type: column.type,
                text: field == null ? nil : String(field))
            }))
      }
    }
    return rows
  }

  /// - Parameter base: the least feed number of the rows.
  private static func expression(_ value: Value, identifiers: [String], base: Int64) -> String {
    guard let text = value.text else { return "NULL" }
    if let sequence = value.sequence {
      return "(pg_current_xact_id()::text::bigint << 16) + \(sequence - base + 1)"
    }
    switch value.type {
    case "text" where identifiers.contains(text): return ":id::text"
    case "bytea": return bytes(text, identifiers: identifiers)
    case "bytea[]":
      // No element has a comma: they are hexadecimal digits, in quotes and with two backslashes.
      let elements = text.dropFirst().dropLast().split(separator: ",").map { element in
        let bytes = String(element).replacing("\"", with: "").replacing("\\\\", with: "\\")
        return Self.bytes(bytes, identifiers: identifiers)
      }
      return "ARRAY[\(elements.joined(separator: ", "))]::bytea[]"
    default: return literal(text)
    }
  }

  /// An id, or another value, in the text of PostgreSQL. A letter before an id is its kind. The id of the
  /// new customer has as many bytes as that of the sample: its last digits, or zeros before them.
  private static func bytes(_ text: String, identifiers: [String]) -> String {
    for identifier in identifiers {
      let packed = PackedIdentifier.bytes(of: identifier)
      let digits = packed.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      guard text.hasSuffix(digits) else { continue }
      let kind = text.dropLast(digits.count).dropFirst(2)
      guard kind.count <= 2 else { continue }
      // The first byte of a UUID says that it is one.
      let form = digits.hasPrefix("fe") ? "fe" : ""
      let count = digits.count - form.count
      return "('\\x\(kind)\(form)'::bytea "
        + "|| decode(right(repeat('0', \(count)) || :id::text, \(count)), 'hex'))"
    }
    return literal(text)
  }

  private static func literal(_ text: String) -> String {
    "'\(text.replacing("'", with: "''"))'"
  }
}
