import EntitlementDomain
package import EntitlementStore
import GRDB
import Glibc
import Logging
import PayloadCompression

/// Brings stored payloads into the present form, table by table and in the order of their row ids. Each
/// step is one transaction with its progress, so that an interrupted conversion goes on where it was.
struct PayloadConversion {
  /// What a step did.
  struct Step {
    var rows = 0
    var bytesBefore: Int64 = 0
    var bytesAfter: Int64 = 0
    /// Of the rows that cannot be read.
    var failures: [StoreError] = []
    /// The id of the last row that it looked at.
    var position: Int64
    /// Whether the table may have more rows.
    var isUnfinished = false
  }

  /// A step ends with the row that reaches so many bytes. Documents can be long.
  static let stepBytes: Int64 = 4 << 20

  let database: Database
  let vault: PayloadVault

  /// The table that is converted now, and the id after which it goes on; nil when all are converted.
  static func next(in database: Database) throws -> (table: PayloadTable, position: Int64)? {
    for table in PayloadTable.allCases {
      guard let row = try database.row(.payloadConversion, [table.rawValue]) else {
        throw StoreError(.corrupt, "the progress of the conversion is not stored")
      }
      if row.hasNull(atIndex: 6) { return (table, row[1]) }
    }
    return nil
  }

  /// Converts rows of a table, in the transaction of the caller.
  ///
  /// - Parameters:
  ///   - limit: of rows.
  ///   - now: the moment of the end, if this is the last step.
  func step(
    _ table: PayloadTable, after position: Int64, limit: Int, now: Milliseconds
  ) throws -> Step {
    let limit = max(1, limit)
    var step = Step(position: position)
    var smaller: [(id: Int64, payload: [UInt8])] = []
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: table.page.rawValue), arguments: [position, limit])
    while !step.isUnfinished, let row = try rows.next() {
      let stored = try row.bytes(1)
      var after = stored
      do {
        let present = try present(stored, of: table, row)
        if present.count < stored.count {
          after = present
          smaller.append((row[0], present))
        }
      } catch let error as StoreError where error.isOfPayload {
        // The row stays as it is, and whoever reads it gets the error.
        step.failures.append(error)
      }
      step.position = row[0]
      step.rows += 1
      step.bytesBefore += Int64(stored.count)
      step.bytesAfter += Int64(after.count)
      step.isUnfinished = step.rows == limit || step.bytesBefore >= Self.stepBytes
    }
    // This is the only connection that writes: the rows are still as they were read.
    for (id, payload) in smaller { try database.run(table.update, [payload.stored, id]) }
    try database.run(
      .advancePayloadConversion,
      [
        Int64(vault.currentDictionary), step.position, step.rows, step.bytesBefore,
        step.bytesAfter, step.failures.count, step.isUnfinished ? nil : now.rawValue,
        table.rawValue,
      ])
    return step
  }

  /// - Parameter row: a row of ``PayloadTable/page``.
  /// - Returns: the present form of a payload, from which the same payload was read again.
  /// - Throws: ``StoreError/Code/corrupt`` and ``StoreError/Code/unknownDictionary`` when it cannot be
  ///   read, or not from the present form.
  private func present(_ stored: [UInt8], of table: PayloadTable, _ row: Row) throws -> [UInt8] {
    switch table {
    case .facts, .documents:
      let digest = try row.digest(2)
      let texts = table == .facts ? try row.rowTexts(3) : .none
      let payload = try vault.checkedPayload(of: stored, digest: digest, texts: texts)
      let present = vault.stored(payload, texts: texts)
      _ = try vault.checkedPayload(of: present, digest: digest, texts: texts)
      return present
    case .versions:
      guard let statement = StatementDigest(try row.bytes(2)) else {
        throw StoreError(.corrupt, "the digest of a stored version has another length")
      }
      let authority = try SQLiteStoredFact.authority(row, at: 3)
      let payload = try vault.checkedVersion(
        of: stored, statement: statement, authority: authority)
      let present = vault.stored(payload)
      // The digest leaves out members that a signature sets anew, so the bytes are compared.
      guard
        try vault.version(of: present, statement: statement, authority: authority) == payload
      else { throw PayloadVault.differs(statement.payloadDigest) }
      return present
    case .notifications:
      let digest = try row.digest(2)
      guard !row.hasNull(atIndex: 3) else {
        throw StoreError(.corrupt, "a header of a signed payload is not stored")
      }
      let header = try row.bytes(3)
      let payload = try vault.checkedPayload(of: stored, digest: digest, header: header)
      let present = vault.stored(payload, header: header)
      _ = try vault.checkedPayload(of: present, digest: digest, header: header)
      return present
    }
  }
}

extension PayloadTable {
  /// The statement that reads the next rows: id, payload, digest, and what else expands it.
  var page: StoreStatement {
    switch self {
    case .facts: .factPayloads
    case .versions: .versionPayloads
    case .notifications: .notificationPayloads
    case .documents: .documentPayloads
    }
  }

  /// The statement that replaces the payload of a row.
  fileprivate var update: StoreStatement {
    switch self {
    case .facts: .setFactPayload
    case .versions: .setVersionPayload
    case .notifications: .setNotificationPayload
    case .documents: .setDocumentPayload
    }
  }
}

extension Milliseconds {
  /// The time of the system, for what operators see.
  static var ofSystem: Milliseconds {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Milliseconds(Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

extension SQLiteStore {
  package func convertPayloads(limit: Int) async throws(StoreError) -> PayloadConversionStep {
    // Nothing is written to a damaged file. Whoever reads has the error, and the server reports it.
    guard (try? checkDamage()) != nil else { return .elsewhere }
    // Without rows that are left nothing is written.
    let isComplete = try await read { [vault] database in
      try database.addDictionaries(to: vault)
      return try PayloadConversion.next(in: database) == nil
    }
    if isComplete { return .complete }
    let step: PayloadConversion.Step? = try await write { [vault] database in
      guard let (table, position) = try PayloadConversion.next(in: database) else { return nil }
      return try PayloadConversion(database: database, vault: vault)
        .step(table, after: position, limit: limit, now: .ofSystem)
    }
    guard let step else { return .complete }
    for failure in step.failures {
      // The message names the row by its digest.
      logger?.error(
        "a stored payload cannot be read, and is left as it is",
        metadata: ["reason": "\(failure.message)"])
    }
    return .converted(payloads: step.rows, savedBytes: step.bytesBefore - step.bytesAfter)
  }
}
