import EntitlementDomain
package import EntitlementStore
import PayloadCompression

/// How a database stores payloads, and dictionaries that are trained on its payloads. For operators; a
/// store need not be open.
package enum PostgresDictionaries {
  /// - Parameter connectTimeout: for the connection, and for each query.
  /// - Returns: nil when the schema is older than compressed payloads.
  /// - Throws: errors of the database.
  package static func status(
    connection: String, connectTimeout: Duration = PostgresSchema.defaultConnectTimeout
  ) async throws(StoreError) -> PayloadStorageStatus? {
    try await PostgresSchema.withPool(connection) { pool throws(StoreError) in
      try await status(pool, within: connectTimeout)
    }
  }

  /// Trains a dictionary on payloads of all parts of the tables, and adds it. Servers write with it as
  /// soon as they have loaded it, within about a minute.
  ///
  /// - Parameters:
  ///   - samples: the most payloads to take.
  ///   - converts: begins the conversion of all payloads anew.
  ///   - isDryRun: stores nothing.
  ///   - connectTimeout: for the connection.
  /// - Throws: ``StoreError/Code/missing`` when there are too few payloads;
  ///   ``StoreError/Code/olderSchema``; ``StoreError/Code/newerSchema``;
  ///   errors of the database.
  package static func train(
    connection: String, samples: Int, converts: Bool, isDryRun: Bool,
    connectTimeout: Duration = PostgresSchema.defaultConnectTimeout
  ) async throws(StoreError) -> DictionaryTrainingReport {
    try await PostgresSchema.withPool(connection) { pool throws(StoreError) in
      try await PostgresSchema.requireCurrent(pool, limit: connectTimeout)
      let loader = DictionaryLoader(pool: pool, limit: connectTimeout)
      try await loader.load()
      let present = loader.vault.current
      let found = try await Self.samples(samples, pool, loader.vault)
      let trainer = try DictionaryTrainer(
        found, number: present.number + 1, present: present, converts: converts)
      var report = trainer.report
      if isDryRun { return report }
      report.number = try await add(trainer, converts: converts, pool, within: connectTimeout)
      return report
    }
  }

  // MARK: Status

  private static func status(
    _ pool: PostgresPool, within limit: Duration
  ) async throws(StoreError) -> PayloadStorageStatus? {
    let isThere = try await pool.query(hasTable, [], within: limit)
    guard try isThere.flag(0, 0) else { return nil }
    let results = try await pool.query(
      [
        PostgresCommand(PayloadStatements.dictionaryList),
        PostgresCommand(PayloadStatements.conversions),
      ], within: limit)
    guard results.count == 2 else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    let dictionaries = try results[0].map { rows, row throws(StoreError) in
      PayloadStorageStatus.Dictionary(
        number: UInt32(clamping: try rows.number(row, 0)),
        byteCount: Int(try rows.number(row, 1)), createdAt: try rows.moment(row, 2),
        samples: Int(try rows.number(row, 3)))
    }
    var conversions: [PayloadTable: PayloadStorageStatus.Conversion] = [:]
    for row in 0..<results[1].count {
      guard let table = PayloadTable(rawValue: try results[1].string(row, 0)) else { continue }
      conversions[table] = PayloadStorageStatus.Conversion(
        table: table, dictionary: UInt32(clamping: try results[1].number(row, 1)),
        rows: try results[1].number(row, 2), estimatedRows: try results[1].optionalNumber(row, 7),
        bytesBefore: try results[1].number(row, 3), bytesAfter: try results[1].number(row, 4),
        damagedRows: try results[1].number(row, 5), endedAt: try results[1].optionalMoment(row, 6))
    }
    return PayloadStorageStatus(
      dictionaries: dictionaries, conversions: PayloadTable.allCases.compactMap { conversions[$0] })
  }

  private static let hasTable = PostgresStatement(
    "SELECT to_regclass('payload_conversions') IS NOT NULL", name: "has_payload_conversions")

  // MARK: Training

  /// The tables to take samples of. Documents are larger and few.
  private static let sampledTables: [PayloadTable] = [.facts, .versions, .notifications]

  /// Payloads of all parts of the tables, from each in proportion to its rows.
  private static func samples(
    _ limit: Int, _ pool: PostgresPool, _ vault: PayloadVault
  ) async throws(StoreError) -> DictionarySamples {
    var counts: [PayloadTable: Int64] = [:]
    for table in sampledTables {
      counts[table] = try await pool.query(
        PostgresStatement("SELECT count(*) FROM \(table.rawValue)", name: "count_\(table)"), [],
        within: Migrator.migrationLimit
      ).number(0, 0)
    }
    let total = max(1, counts.values.reduce(0, +))
    var samples = DictionarySamples()
    for table in sampledTables {
      let count = counts[table] ?? 0
      let wanted = (Int64(limit) * count + total - 1) / total
      if wanted == 0 { continue }
      // Chosen at random, so somewhat more than needed; then rows are left out evenly.
      let share = min(100, 130 * Double(wanted) / Double(count) + 0.01)
      let rows = try await pool.query(
        sample(of: table, percent: share, wholePages: count > wholePagesAbove),
        [.int64(wanted + wanted / 2 + 1_000)],
        within: Migrator.migrationLimit)
      var taken: Int64 = 0
      for row in 0..<rows.count where !samples.isFull {
        // The first rows of evenly spaced steps.
        guard Int64(row + 1) * wanted / Int64(max(rows.count, Int(wanted))) > taken else {
          continue
        }
        taken += 1
        if let sample = try sample(rows, row, of: table, vault) { samples.add(sample) }
      }
    }
    return samples
  }

  /// The rows from which on not all pages of a table are read.
  private static let wholePagesAbove: Int64 = 1_000_000

  /// Rows or whole pages, chosen at random and the same each time.
  private static func sample(
    of table: PayloadTable, percent: Double, wholePages: Bool
  ) -> PostgresStatement {
    let name = table.rawValue
    let texts = table == .facts ? ", \(Targets.rowTexts(of: name))" : ""
    let header =
      """
      (SELECT headers.bytes FROM headers WHERE headers.id = \(name).header)
      """
    return PostgresStatement(
      """
      SELECT \(table.digestColumn),
        \(table == .versions ? "versions.authority" : "NULL::smallint"),
        \(table == .notifications ? header : "NULL::bytea"), \(name).payload\(texts)
      FROM \(name) TABLESAMPLE \(wholePages ? "SYSTEM" : "BERNOULLI") (\(percent)) REPEATABLE (1) LIMIT $1::bigint
      """, name: "sample_\(name)")
  }

  /// - Returns: nil for a payload that cannot be read.
  private static func sample(
    _ rows: PostgresRows, _ row: Int, of table: PayloadTable, _ vault: PayloadVault
  ) throws(StoreError) -> DictionaryTrainer.Sample? {
    let stored = try rows.data(row, 3)
    let header = try rows.optionalData(row, 2)
    do throws(StoreError) {
      guard table == .versions else {
        let texts = table == .facts ? try rows.rowTexts(row, 4) : .none
        return DictionaryTrainer.Sample(
          payload: try vault.payload(
            of: stored, digest: try rows.digest(row, 0), header: header, texts: texts),
          header: header, texts: texts)
      }
      guard let statement = StatementDigest(try rows.data(row, 0)) else { return nil }
      return DictionaryTrainer.Sample(
        payload: try vault.version(
          of: stored, statement: statement, authority: try rows.authority(row, 1)), header: nil)
    } catch {
      guard error.code == .corrupt || error.code == .unknownDictionary else { throw error }
      return nil
    }
  }

  /// - Returns: the number of the dictionary, the next one.
  private static func add(
    _ trainer: DictionaryTrainer, converts: Bool, _ pool: PostgresPool, within limit: Duration
  ) async throws(StoreError) -> UInt32 {
    do {
      return try await pool.withSession(within: limit) { session in
        let added = try await session.exchange(
          [
            PostgresCommand(begin), PostgresCommand(PayloadStatements.conversionLock),
            PostgresCommand(
              PayloadStatements.addDictionary,
              [.bytes(trainer.dictionary.bytes), .int64(Int64(trainer.report.samples))]),
          ], within: limit)
        let number = try added[2].number(0, 0)
        let reset = PostgresCommand(PayloadStatements.resetConversions, [.int64(number)])
        let ended = try await session.exchange(
          (converts ? [reset] : []) + [PostgresCommand(commit)], within: limit)
        guard ended.last?.tag == "COMMIT" else {
          throw StoreError(.internalFault, "COMMIT did not commit the dictionary")
        }
        return UInt32(clamping: number)
      }
    } catch {
      throw StoreError(of: error)
    }
  }

  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin")
  private static let commit = PostgresStatement("COMMIT", name: "commit")
}
