import EntitlementDomain
package import EntitlementStore
import Logging
import PayloadCompression
import Synchronization

extension PostgresStore {
  package func convertPayloads(limit: Int) async throws(StoreError) -> PayloadConversionStep {
    try await dictionaries.load()
    guard try await query(PayloadStatements.isConversionOpen, []).flag(0, 0) else {
      return .complete
    }
    // Steps that fail are halved until the row that is the cause is alone.
    let size = max(1, min(limit, conversionLimit.withLock { $0 }))
    let found: ConversionStep.Made?
    do throws(StoreError) {
      found = try await loadingDictionaries(size)
    } catch {
      conversionLimit.withLock { $0 = max(1, size / 2) }
      // The server cannot read the row.
      guard size == 1, error.code == .corrupt else { throw error }
      found = try await convert(1, .nextKey)
    }
    conversionLimit.withLock { $0 = size < limit ? 2 * size : .max }
    guard let made = found else { return .elsewhere }
    for failure in made.failures {
      // The message names the row by its digest.
      logger.error(
        "a stored payload cannot be read, and is left as it is",
        metadata: ["reason": "\(failure.message)"])
    }
    return .converted(payloads: made.payloads, savedBytes: made.savedBytes)
  }

  private func loadingDictionaries(_ limit: Int) async throws(StoreError) -> ConversionStep.Made? {
    do throws(StoreError) {
      return try await convert(limit, .rows)
    } catch {
      guard error.code == .unknownDictionary else { throw error }
    }
    try await dictionaries.load()
    return try await convert(limit, .rowsOfKnownDictionaries)
  }

  /// Runs a step. It is run again when a writer has moved a version to another part of the table at the
  /// same time.
  private func convert(
    _ limit: Int, _ kind: ConversionStep.Kind
  ) async throws(StoreError) -> ConversionStep.Made? {
    var attempts = 0
    while true {
      attempts += 1
      do {
        return try await primary.withSession(within: limits.writeTimeLimit) { session in
          let step = ConversionStep(
            session: session, vault: dictionaries.vault, dictionary: dictionaries.vault.current,
            limit: limit, limits: limits, kind: kind)
          return try await step.run()
        }
      } catch {
        guard attempts < 3, case .server(let state) = (error as? PostgresFailure)?.kind,
          [.serializationFailure, .deadlockDetected].contains(state)
        else { throw StoreError(of: error) }
      }
    }
  }
}

/// One step of the conversion of stored payloads: a transaction that reads the next rows of a table,
/// and writes those that are smaller in the present form. Rows are locked in its last round trip only.
private struct ConversionStep {
  struct Made: Sendable {
    var payloads = 0
    var savedBytes: Int64 = 0
    /// Of the rows that could not be read.
    var failures: [StoreError] = []
  }

  enum Kind {
    /// A row that needs an unknown dictionary ends the step.
    case rows
    /// Such a row is left as it is.
    case rowsOfKnownDictionaries
    /// Goes past one row, whose payload the server cannot read.
    case nextKey
  }

  /// The bytes from which on a step takes no more rows.
  private static let byteCount: Int64 = 4 << 20

  /// A table that is not done.
  private struct Open {
    let table: PayloadTable
    /// Empty before the first row.
    let position: [String]
    /// The dictionary of its conversion until now.
    let dictionary: Int64
  }

  /// The rows of a step in their new form.
  private struct Converted {
    /// The rows that were looked at, the first of those that were read.
    var rows = 0
    var positions: [[String]] = []
    var former: [[UInt8]] = []
    var stored: [[UInt8]] = []
    /// Of the payloads, or what versions state.
    var digests: [[UInt8]] = []
    var byteCount: Int64 = 0
    var failures: [StoreError] = []
  }

  let session: PostgresSession
  let vault: PayloadVault
  /// The dictionary to convert to. It is checked within the transaction.
  let dictionary: PayloadDictionary
  let limit: Int
  let limits: PostgresStoreLimits
  let kind: Kind

  /// - Returns: nil when another process converts, or all rest.
  func run() async throws -> Made? {
    if let made = try await made() { return made }
    // The pool would roll back too, but later: another node may have been refused by then.
    _ = try await session.exchange(
      [PostgresCommand(Self.rollback)], within: limits.exchangeTimeLimit)
    return nil
  }

  /// - Returns: nil as for ``run()``, within an open transaction.
  private func made() async throws -> Made? {
    let results = try await session.exchange(
      [
        PostgresCommand(Self.begin), PostgresCommand(PayloadStatements.tryConversionLock),
        PostgresCommand(
          PayloadStatements.openConversions,
          [.int64(Int64(dictionary.number)), .bytes(dictionary.digest)]),
      ], within: limits.exchangeTimeLimit)
    guard try results[1].flag(0, 0) else { return nil }
    if results[2].count == 0 { return Made() }
    guard let open = try next(results[2]) else { return nil }
    let table = open.table
    let size = table.stepSize(limit)
    let rows = try await session.exchange(
      [
        PostgresCommand(
          kind == .nextKey ? table.nextKey : table.nextRows,
          table.values(of: open.position) + [.int64(Int64(size))])
      ], within: limits.exchangeTimeLimit)[0]
    let converted = try kind == .nextKey ? skip(rows) : convert(rows, of: table)
    let last = converted.rows > 0 ? try Self.position(rows, converted.rows - 1) : nil
    let written = try await session.exchange(
      [
        PostgresCommand(
          table.writeConverted,
          table.arrays(of: converted.positions) + [
            .byteStrings(converted.former), .byteStrings(converted.stored),
            .int64(Int64(dictionary.number)), last.map { .texts($0) } ?? .null,
            .int64(Int64(converted.rows)), .int64(converted.byteCount),
            .int64(Int64(converted.failures.count)),
            .int64(converted.rows == rows.count && rows.count < size ? 1 : 0),
            open.position.isEmpty ? .null : .texts(open.position), .int64(open.dictionary),
            .int64(Int64(limits.conversionPauseFactor)),
          ] + (table == .facts ? [.byteStrings(converted.digests)] : [])),
        PostgresCommand(Self.commit),
      ], within: limits.exchangeTimeLimit)
    guard written.last?.tag == "COMMIT", let saved = written.first else {
      throw StoreError(.internalFault, "COMMIT did not commit a step of the conversion")
    }
    // The conversion was begun anew, by hand.
    if saved.count == 0 { return Made() }
    return Made(
      payloads: converted.rows, savedBytes: try saved.number(0, 0), failures: converted.failures)
  }

  /// The first table that is not done, in the order of ``PayloadTable``.
  ///
  /// - Parameter rows: of ``PayloadStatements/openConversions``.
  /// - Returns: nil when all nodes rest, a failover has lost the dictionary, or there is a newer one,
  ///   which the next step finds out.
  private func next(_ rows: PostgresRows) throws(StoreError) -> Open? {
    var open: [String: Int] = [:]
    for row in 0..<rows.count { open[try rows.string(row, 0)] = row }
    for table in PayloadTable.allCases {
      guard let row = open[table.rawValue] else { continue }
      guard try rows.flag(row, 6), try !rows.flag(row, 8) else { return nil }
      return Open(
        table: table, position: try Self.position(rows, row, firstColumn: 1),
        dictionary: try rows.number(row, 7))
    }
    return nil
  }

  private static func position(
    _ rows: PostgresRows, _ row: Int, firstColumn: Int = 0
  ) throws(StoreError) -> [String] {
    var position: [String] = []
    for column in firstColumn..<(firstColumn + 5) {
      guard let text = try rows.optionalString(row, column) else { break }
      position.append(text)
    }
    return position
  }

  private func convert(
    _ rows: PostgresRows, of table: PayloadTable
  ) throws(StoreError) -> Converted {
    var converted = Converted()
    for row in 0..<rows.count where converted.byteCount < Self.byteCount {
      converted.rows += 1
      let former = try rows.data(row, 8)
      converted.byteCount += Int64(former.count)
      let stored: [UInt8]
      do throws(StoreError) {
        stored = try self.stored(former, rows, row, of: table)
      } catch {
        let isSkipped =
          error.code == .corrupt
          || (error.code == .unknownDictionary && kind == .rowsOfKnownDictionaries)
        guard isSkipped else { throw error }
        converted.failures.append(error)
        continue
      }
      if stored.count >= former.count { continue }
      converted.positions.append(try Self.position(rows, row))
      converted.former.append(former)
      converted.stored.append(stored)
      converted.digests.append(try rows.data(row, 5))
    }
    return converted
  }

  /// Leaves a row as it is.
  ///
  /// - Parameter rows: of ``PayloadTable/nextKey``.
  private func skip(_ rows: PostgresRows) throws(StoreError) -> Converted {
    var converted = Converted(rows: rows.count)
    for row in 0..<rows.count {
      let digest = try rows.data(row, 5).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }.joined()
      converted.failures.append(
        StoreError(.corrupt, "PostgreSQL cannot read the payload with the digest \(digest)"))
    }
    return converted
  }

  /// The present form of a stored payload. It was expanded again, and gave the same bytes.
  ///
  /// - Throws: ``StoreError/Code/corrupt``, also for bytes that are not compressed and do not have their
  ///   digest: compressed, no reader would accept them.
  private func stored(
    _ former: [UInt8], _ rows: PostgresRows, _ row: Int, of table: PayloadTable
  ) throws(StoreError) -> [UInt8] {
    let header = try rows.optionalData(row, 7)
    if table == .versions {
      guard let statement = StatementDigest(try rows.data(row, 5)) else {
        throw StoreError(.corrupt, "the digest of a stored version has another length")
      }
      let authority = try rows.authority(row, 6)
      let payload = try vault.version(of: former, statement: statement, authority: authority)
      let stored = vault.stored(payload, with: dictionary)
      guard try StatementDigest(of: payload, authority: authority) == statement,
        try vault.version(of: stored, statement: statement, authority: authority) == payload
      else { throw Self.damaged(statement.payloadDigest) }
      return stored
    }
    let digest = try rows.digest(row, 5)
    let texts = table == .facts ? try rows.rowTexts(row, 9) : .none
    let payload = try vault.payload(of: former, digest: digest, header: header, texts: texts)
    let stored = vault.stored(payload, header: header, texts: texts, with: dictionary)
    guard try StoredPayload.digest(of: payload) == digest,
      try vault.payload(of: stored, digest: digest, header: header, texts: texts) == payload
    else { throw Self.damaged(digest) }
    return stored
  }

  private static func damaged(_ digest: PayloadDigest) -> StoreError {
    StoreError(.corrupt, "the stored payload with the digest \(digest.hexadecimal) is damaged")
  }

  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin")
  private static let commit = PostgresStatement("COMMIT", name: "commit")
  private static let rollback = PostgresStatement("ROLLBACK", name: "roll_back_conversion")
}
