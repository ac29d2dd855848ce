import EntitlementStore
import PayloadCompression
import TestSupport

@testable import PostgresStore

/// Rows in the form in which former versions of the program stored them.
enum RawPayloads {
  /// Gives all payloads and documents of a database their former form, with a conversion that has not
  /// begun.
  static func restore(in connection: String) async throws {
    let pool = try PostgresPool.forMigration(connection)
    do {
      try await restore(pool)
    } catch {
      await pool.close()
      throw error
    }
    await pool.close()
  }

  private static func restore(_ pool: PostgresPool) async throws {
    let loader = DictionaryLoader(pool: pool, limit: .seconds(20))
    try await loader.load()
    for table in PayloadTable.allCases {
      let rows = try await pool.query(
        table.nextRows, table.values(of: []) + [.int64(1_000_000)], within: .seconds(60))
      var positions: [[String]] = []
      var former: [[UInt8]] = []
      var raw: [[UInt8]] = []
      var digests: [[UInt8]] = []
      for row in 0..<rows.count {
        let payload = try payload(rows, row, of: table, loader.vault)
        // No signed payload, receipt or response begins with the byte of a form.
        if let first = payload.first, first < 8 { continue }
        positions.append(try (0..<5).compactMap { try rows.optionalString(row, $0) })
        former.append(try rows.data(row, 8))
        raw.append(payload)
        digests.append(try rows.data(row, 5))
      }
      _ = try await pool.write(
        [
          PostgresCommand(PayloadStatements.resetConversions, [.int64(1)]),
          PostgresCommand(
            table.writeConverted,
            table.arrays(of: positions) + [
              .byteStrings(former), .byteStrings(raw), .int64(1), .null, .int64(0), .int64(0),
              .int64(0), .int64(0), .null, .int64(1), .int64(0),
            ] + (table == .facts ? [.byteStrings(digests)] : [])),
          PostgresCommand(PayloadStatements.resetConversions, [.int64(1)]),
        ], within: .seconds(60))
    }
  }

  private static func payload(
    _ rows: PostgresRows, _ row: Int, of table: PayloadTable, _ vault: PayloadVault
  ) throws -> [UInt8] {
    let stored = try rows.data(row, 8)
    if table == .versions, let statement = StatementDigest(try rows.data(row, 5)) {
      return try vault.version(
        of: stored, statement: statement, authority: try rows.authority(row, 6))
    }
    return try vault.payload(
      of: stored, digest: try rows.digest(row, 5), header: try rows.optionalData(row, 7),
      texts: table == .facts ? try rows.rowTexts(row, 9) : .none)
  }
}
