import EntitlementDomain
package import EntitlementStore
import GRDB
import PayloadCompression

/// The dictionaries of a database file, for operators.
package enum SQLiteDictionaries {
  /// The dictionaries, and how far the conversion of stored payloads is. A server may have the file open
  /// meanwhile.
  ///
  /// - Throws: ``StoreError/Code/missing``; ``StoreError/Code/corrupt`` when it is not a database of this
  ///   program; ``StoreError/Code/olderSchema``, ``StoreError/Code/newerSchema``;
  ///   ``StoreError/Code/internalFault`` when the path cannot be used.
  package static func status(path: String) throws(StoreError) -> PayloadStorageStatus {
    // A connection that only reads needs no lock of the file.
    let path = try DatabaseFile.existing(path)
    return try withDatabase(at: path, isReadOnly: true) { database in
      try database.read { try $0.payloadStorageStatus() }
    }
  }

  /// Trains a dictionary on payloads of the database, compares it with the present one, and stores it.
  ///
  /// - Parameters:
  ///   - samples: how many payloads are read, from 1 to ``DictionaryTrainer/maximumSamples``. They are
  ///     spread over all facts, versions and notifications.
  ///   - converts: whether the server converts all payloads to the new dictionary.
  ///   - isDryRun: whether nothing is stored.
  /// A payload that cannot be read is passed over. A dry run only reads: a server may have the file open
  /// meanwhile.
  ///
  /// - Throws: as ``status(path:)``; ``StoreError/Code/locked`` while a server, or another process, has
  ///   the database open, unless this is a dry run; ``StoreError/Code/missing`` when there are too few
  ///   payloads.
  package static func train(
    path: String, samples: Int, converts: Bool, isDryRun: Bool
  ) throws(StoreError) -> DictionaryTrainingReport {
    if isDryRun {
      // As for the status.
      return try withDatabase(at: try DatabaseFile.existing(path), isReadOnly: true) { database in
        try trainer(database, samples: samples, converts: converts).report
      }
    }
    let file = try DatabaseFile(at: path, creates: false)
    // SQLite has closed the file by then.
    defer { file.release() }
    return try withDatabase(at: file.path, isReadOnly: false) { database in
      let trainer = try trainer(database, samples: samples, converts: converts)
      var report = trainer.report
      try database.write { try $0.add(trainer.dictionary, report) }
      report.number = trainer.dictionary.number
      return report
    }
  }

  private static func trainer(
    _ database: DatabaseQueue, samples: Int, converts: Bool
  ) throws -> DictionaryTrainer {
    let vault = PayloadVault()
    // The training is no part of the read: meanwhile, a server could not shorten its log.
    let payloads = try database.read { database in
      try database.addDictionaries(to: vault)
      return try database.samples(min(samples, DictionaryTrainer.maximumSamples), vault)
    }
    return try DictionaryTrainer(
      payloads, number: vault.current.number + 1, present: vault.current, converts: converts)
  }

  private static func withDatabase<Result>(
    at path: String, isReadOnly: Bool, _ body: (DatabaseQueue) throws -> Result
  ) throws(StoreError) -> Result {
    var configuration = Configuration()
    configuration.label = "SQLiteDictionaries"
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(SQLiteStoreLimits().lockTimeoutSeconds)
    do {
      let database = try DatabaseQueue(path: path, configuration: configuration)
      let result = Swift.Result {
        try database.inDatabase { database in
          // A dictionary is on the disk before payloads refer to it.
          try database.execute(sql: "PRAGMA synchronous = FULL")
          try Schema.checkOwner(database)
          let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
          try Schema.checkSupported(version: version)
          guard version == Schema.currentVersion else {
            throw StoreError(
              .olderSchema,
              "the database has schema version \(version), and this program needs version "
                + "\(Schema.currentVersion). The server migrates it when it starts")
          }
        }
        return try body(database)
      }
      try database.close()
      return try result.get()
    } catch {
      throw StoreError(translating: error)
    }
  }
}

extension Database {
  fileprivate func payloadStorageStatus() throws -> PayloadStorageStatus {
    let dictionaries = try rows(.dictionaryList, []).map { row in
      PayloadStorageStatus.Dictionary(
        number: row[0], byteCount: row[1], createdAt: Milliseconds(row[2]), samples: row[3])
    }
    let conversions = try PayloadTable.allCases.map { table in
      guard let row = try row(.payloadConversion, [table.rawValue]) else {
        throw StoreError(.corrupt, "the progress of the conversion is not stored")
      }
      return PayloadStorageStatus.Conversion(
        table: table, dictionary: row[0], rows: row[2], estimatedRows: try estimatedRows(of: table),
        bytesBefore: row[3], bytesAfter: row[4], damagedRows: row[5],
        endedAt: (row[6] as Int64?).map { Milliseconds($0) })
    }
    return PayloadStorageStatus(dictionaries: dictionaries, conversions: conversions)
  }

  /// The highest id: few rows are ever deleted. To count them would read all of the table.
  private func estimatedRows(of table: PayloadTable) throws -> Int64 {
    // The name is one of four.
    try Int64.fetchOne(self, sql: "SELECT MAX(id) FROM \(table.rawValue)") ?? 0
  }

  /// Payloads of facts, versions and notifications, at equal distances in each table, without those
  /// that cannot be read.
  fileprivate func samples(
    _ count: Int, _ vault: PayloadVault
  ) throws -> [DictionaryTrainer.Sample] {
    let tables: [PayloadTable] = [.facts, .versions, .notifications]
    let sizes = try tables.map { try estimatedRows(of: $0) }
    let all = sizes.reduce(0, +)
    let count = Int64(max(1, count))
    var samples: [DictionaryTrainer.Sample] = []
    for (table, size) in zip(tables, sizes) {
      // All rows, if there are fewer.
      let wanted = all <= count ? size : size * count / all
      var last: Int64 = 0
      for index in 0..<wanted {
        guard let row = try row(table.page, [max(last, size * index / wanted), 1]) else { break }
        last = row[0]
        do {
          samples.append(try Self.sample(of: table, row, vault))
        } catch let error as StoreError where error.isOfPayload {
          // The others are enough to train with.
          continue
        }
      }
    }
    return samples
  }

  private static func sample(
    of table: PayloadTable, _ row: Row, _ vault: PayloadVault
  ) throws -> DictionaryTrainer.Sample {
    let stored = try row.bytes(1)
    if table == .versions {
      guard let statement = StatementDigest(try row.bytes(2)) else {
        throw StoreError(.corrupt, "the digest of a stored version has another length")
      }
      return DictionaryTrainer.Sample(
        payload: try vault.checkedVersion(
          of: stored, statement: statement, authority: SQLiteStoredFact.authority(row, at: 3)),
        header: nil)
    }
    let header = table == .notifications ? try row.bytes(3) : nil
    let texts = table == .facts ? try row.rowTexts(3) : .none
    return DictionaryTrainer.Sample(
      payload: try vault.checkedPayload(
        of: stored, digest: row.digest(2), header: header, texts: texts),
      header: header, texts: texts)
  }

  fileprivate func add(
    _ dictionary: PayloadDictionary, _ report: DictionaryTrainingReport
  ) throws {
    try run(
      .insertDictionary,
      [
        Int64(dictionary.number), dictionary.bytes.stored, dictionary.digest.stored,
        Milliseconds.ofSystem.rawValue,
        report.samples,
      ])
    guard report.converts else { return }
    for table in PayloadTable.allCases {
      try run(.restartPayloadConversion, [Int64(dictionary.number), table.rawValue])
    }
  }
}
