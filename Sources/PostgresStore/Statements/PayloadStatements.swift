import EntitlementStore

/// Statements for dictionaries and the conversion of stored payloads.
enum PayloadStatements {
  // MARK: Dictionaries

  static let dictionaryDigests = PostgresStatement(
    "SELECT number, digest FROM payload_dictionaries ORDER BY number",
    name: "payload_dictionary_digests")

  static let dictionaries = PostgresStatement(
    "SELECT number, digest, bytes FROM payload_dictionaries ORDER BY number",
    name: "payload_dictionaries")

  /// Returns the number, the next one. It needs ``conversionLock``. `$1` bytes, `$2` samples.
  static let addDictionary = PostgresStatement(
    """
    INSERT INTO payload_dictionaries (number, bytes, created_at, samples)
    SELECT coalesce(max(number), 1) + 1, $1::bytea,
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $2::bigint
    FROM payload_dictionaries
    RETURNING number
    """, name: "add_payload_dictionary")

  /// Whether a dictionary is that of the database. `$1` number, `$2` digest. Number 1 is in the program.
  static let knowsDictionary = """
    ($1::bigint = 1 OR EXISTS (
      SELECT 1 FROM payload_dictionaries
      WHERE payload_dictionaries.number = $1::bigint AND payload_dictionaries.digest = $2::bytea
      OFFSET 0))
    """

  // MARK: The conversion

  /// "Entl" and 3: one process converts at a time.
  static let tryConversionLock = PostgresStatement(
    "SELECT pg_try_advisory_xact_lock(1164866668, 3)", name: "try_conversion_lock")

  /// Waits for a step. A dictionary is added, and the conversion begun anew, between two steps.
  static let conversionLock = PostgresStatement(
    "SELECT pg_advisory_xact_lock(1164866668, 3)", name: "conversion_lock")

  static let isConversionOpen = PostgresStatement(
    "SELECT EXISTS (SELECT 1 FROM payload_conversions WHERE ended_at IS NULL)",
    name: "is_conversion_open")

  /// The tables that are not done: the position, whether the dictionary can be converted to, the
  /// dictionary of the conversion, and whether all nodes rest. A table is not converted to an older
  /// dictionary than its conversion was begun for. `$1` number and `$2` digest of the dictionary.
  static let openConversions = PostgresStatement(
    """
    SELECT table_name, position[1], position[2], position[3], position[4], position[5],
      dictionary <= $1::bigint AND \(knowsDictionary), dictionary,
      (SELECT max(next_step_at) FROM payload_conversions)
        > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    FROM payload_conversions WHERE ended_at IS NULL
    """, name: "open_conversions")

  /// Begins the conversion of all tables. `$1` the dictionary.
  static let resetConversions = PostgresStatement(
    """
    UPDATE payload_conversions SET dictionary = $1::bigint, position = NULL, looked_at = 0,
      bytes_before = 0, bytes_after = 0, damaged = 0, skipped = 0, pass = 1, ended_at = NULL
    """, name: "reset_conversions")

  /// The estimate is that of the last ANALYZE; NULL without one.
  static let conversions = PostgresStatement(
    """
    SELECT table_name, dictionary, looked_at, bytes_before, bytes_after, damaged, ended_at,
      (SELECT sum(greatest(part.reltuples, 0))::bigint
        FROM pg_inherits JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = to_regclass(table_name) HAVING bool_or(part.reltuples >= 0))
    FROM payload_conversions
    """, name: "conversions")

  static let dictionaryList = PostgresStatement(
    """
    SELECT number, octet_length(bytes)::bigint, created_at, samples
    FROM payload_dictionaries ORDER BY number
    """, name: "payload_dictionary_list")

  static let all =
    [
      dictionaryDigests, dictionaries, addDictionary, isConversionOpen, openConversions,
      resetConversions,
    ] + PayloadTable.allCases.flatMap { [$0.nextRows, $0.nextKey, $0.writeConverted] }
}

extension PayloadTable {
  /// The columns of the primary key.
  private var keys: [(name: String, type: String)] {
    switch self {
    case .facts: [("target", "bytea"), ("identifier", "bytea"), ("scope", "bigint")]
    case .versions:
      [
        ("target", "bytea"), ("scope", "bigint"), ("kind", "bigint"), ("identifier", "bytea"),
        ("statement", "bytea"),
      ]
    case .notifications: [("uuid", "text")]
    case .documents: [("digest", "bytea")]
    }
  }

  /// The digest of the payload, or what a version states.
  var digestColumn: String {
    switch self {
    case .versions: "versions.statement"
    case .notifications: ReadStatements.notificationDigest
    case .facts, .documents: "\(rawValue).digest"
    }
  }

  private var payloadColumn: String { self == .documents ? "bytes" : "payload" }

  /// The most rows of a step, of the rows that a caller allows. Documents may have some megabytes.
  func stepSize(_ limit: Int) -> Int { self == .documents ? max(1, limit / 50) : max(1, limit) }

  /// The parameters for a position.
  ///
  /// - Parameter position: the values of the key, bytes in hexadecimal; empty for the beginning.
  func values(of position: [String]) -> [PostgresValue] {
    keys.indices.map { index in
      let text = position.isEmpty ? nil : position[index]
      switch keys[index].type {
      case "bigint": return .int64(text.flatMap { Int64($0) } ?? 0)
      case "bytea": return .bytes(text.map { [UInt8](hexadecimal: $0) } ?? [])
      default: return .text(text ?? "")
      }
    }
  }

  /// The parameters for the keys of several rows.
  func arrays(of positions: [[String]]) -> [PostgresValue] {
    keys.indices.map { index in
      let texts = positions.map { $0[index] }
      switch keys[index].type {
      case "bigint": return .int64s(texts.map { Int64($0) })
      case "bytea": return .byteStrings(texts.map { [UInt8](hexadecimal: $0) })
      default: return .texts(texts)
      }
    }
  }

  /// The same columns of the next row, with empty bytes in place of the stored ones and the header: for
  /// a row whose payload the server cannot read.
  var nextKey: PostgresStatement { next(keysOnly: true) }

  /// Rows in the order of the primary key: the key as five texts, NULL where it has fewer; the digest
  /// or statement, the authority or NULL, the header or NULL, the stored bytes, and for facts
  /// ``Targets/rowTexts(of:)``. The first parameters are the key to continue after, the last one is the
  /// limit.
  var nextRows: PostgresStatement { next(keysOnly: false) }

  private func next(keysOnly: Bool) -> PostgresStatement {
    let table = rawValue
    let hasHeader = self == .notifications && !keysOnly
    let rowTexts = self == .facts && !keysOnly ? ",\n  \(Targets.rowTexts(of: table))" : ""
    let names = keys.map { "\(table).\($0.name)" }
    let after = keys.enumerated().map { "$\($0.offset + 1)::\($0.element.type)" }
    let texts = keys.map { key in
      key.type == "bytea" ? "encode(\(table).\(key.name), 'hex')" : "\(table).\(key.name)::text"
    }
    let columns = (texts + [String](repeating: "NULL::text", count: 5)).prefix(5)
    let header =
      """
      LEFT JOIN LATERAL (
        SELECT headers.bytes FROM headers WHERE headers.id = \(table).header OFFSET 0)
        AS headers ON true
      """
    return PostgresStatement(
      """
      SELECT \(columns.joined(separator: ", ")),
        \(digestColumn),
        \(self == .versions ? "versions.authority" : "NULL::smallint"),
        \(hasHeader ? "headers.bytes" : "NULL::bytea"),
        \(keysOnly ? "''::bytea" : "\(table).\(payloadColumn)")\(rowTexts)
      FROM \(table) \(hasHeader ? header : "")
      WHERE (\(names.joined(separator: ", "))) > (\(after.joined(separator: ", ")))
      ORDER BY \(names.joined(separator: ", ")) LIMIT $\(keys.count + 1)::bigint
      """, name: "next_\(table)_\(keysOnly ? "key" : "rows")_to_convert")
  }

  /// Writes converted rows and the progress of the table. A row is written if it still holds the former
  /// bytes, and no other transaction has locked it: waiting for a row while others are locked could end
  /// in a deadlock. When rows were left out so, the table is gone through again at its end, twice at
  /// most: those passes count only the bytes that they save.
  ///
  /// The first parameters are the keys, followed by the former and the new bytes; then the dictionary,
  /// the new position, the rows that were looked at, their bytes, the damaged ones, 1 when these are
  /// the last rows, the position and the dictionary that were read before, and the time that all nodes
  /// rest, in times of this transaction; for facts, the digests of the rows: two versions that differ in
  /// their moment alone may have the same bytes. Returns the bytes that were saved; nothing when the position
  /// is no longer the one that was read.
  var writeConverted: PostgresStatement {
    let table = rawValue
    let names = keys.map(\.name)
    let count = keys.count
    let arrays = keys.enumerated().map { "$\($0.offset + 1)::\($0.element.type)[]" }
    func matching(_ other: String) -> String {
      names.map { "\(table).\($0) = \(other).\($0)" }.joined(separator: " AND ")
    }
    let digests = self == .facts ? ", $\(count + 12)::bytea[]" : ""
    let digest = self == .facts ? ", digest" : ""
    let sameDigest = self == .facts ? " AND facts.digest = made.digest" : ""
    // Whether the table is gone through once more.
    let goesOn =
      "($\(count + 8)::bigint > 0 AND payload_conversions.skipped + total.skipped > 0 AND pass < 3)"
    func first(_ parameter: String) -> String {
      "CASE WHEN pass = 1 THEN \(parameter)::bigint ELSE 0 END"
    }
    return PostgresStatement(
      """
      WITH free AS MATERIALIZED (
        SELECT made.*
        FROM unnest(\(arrays.joined(separator: ", ")), $\(count + 1)::bytea[], $\(count + 2)::bytea[]\(digests))
          AS made (\(names.joined(separator: ", ")), former, stored\(digest))
        JOIN \(table) ON \(matching("made")) AND \(table).\(payloadColumn) = made.former\(sameDigest)
        FOR UPDATE OF \(table) SKIP LOCKED),
      written AS (
        UPDATE \(table) SET \(payloadColumn) = free.stored FROM free WHERE \(matching("free"))
        RETURNING octet_length(free.former)::bigint - octet_length(free.stored) AS saved),
      total AS (
        SELECT coalesce(sum(saved), 0)::bigint AS saved,
          coalesce(cardinality($\(count + 1)::bytea[]), 0) - count(*) AS skipped
        FROM written)
      UPDATE payload_conversions SET
        dictionary = $\(count + 3)::bigint,
        position = CASE WHEN NOT \(goesOn) THEN coalesce($\(count + 4)::text[], position) END,
        looked_at = looked_at + \(first("$\(count + 5)")),
        bytes_before = bytes_before + \(first("$\(count + 6)")),
        bytes_after = bytes_after + \(first("$\(count + 6)")) - total.saved,
        damaged = damaged + \(first("$\(count + 7)")),
        skipped = CASE WHEN \(goesOn) THEN 0
          ELSE payload_conversions.skipped + total.skipped END,
        pass = CASE WHEN \(goesOn) THEN pass + 1 ELSE pass END,
        ended_at = CASE WHEN $\(count + 8)::bigint > 0 AND NOT \(goesOn)
          THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint END,
        next_step_at = (extract(epoch FROM clock_timestamp()
          + $\(count + 11)::bigint * (clock_timestamp() - now())) * 1000)::bigint
      FROM total
      WHERE table_name = '\(table)' AND position IS NOT DISTINCT FROM $\(count + 9)::text[]
        AND dictionary = $\(count + 10)::bigint
      RETURNING total.saved
      """, name: "write_converted_\(table)")
  }
}

extension [UInt8] {
  /// Pairs of hexadecimal digits. Others are left out: only what PostgreSQL encoded is decoded.
  init(hexadecimal text: String) {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    self = stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
