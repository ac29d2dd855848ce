import EntitlementStore
import Locks
import Logging
import PayloadCompression

/// Keeps the dictionaries of the database in the vault of a store.
final class DictionaryLoader: Sendable {
  let vault = PayloadVault()
  private let pool: PostgresPool
  private let limit: Duration
  private let logger: Logger?
  private let loaded = LockedValue(Loaded())

  /// What the vault has.
  private struct Loaded {
    /// The digests of the dictionaries, also of those that cannot be read.
    var digests: [UInt32: [UInt8]] = [:]
    /// The latest call of ``DictionaryLoader/load()`` that has begun.
    var begun = 0
    /// The call whose answer the vault has.
    var answered = 0
  }

  init(pool: PostgresPool, limit: Duration, logger: Logger? = nil) {
    self.pool = pool
    self.limit = limit
    self.logger = logger
  }

  /// Makes the vault know the dictionaries of the primary, and no others. A failover may have lost some
  /// that this process knows, or brought others with their numbers. One that is damaged is logged and
  /// left out: payloads that need it are errors, all others are served.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` when one has no number; errors of the database.
  func load() async throws(StoreError) {
    let call = loaded.withLock { loaded in
      loaded.begun += 1
      return loaded.begun
    }
    let listed = try Self.digests(
      try await pool.query(PayloadStatements.dictionaryDigests, [], within: limit))
    let isKnown = loaded.withLock { loaded in
      guard loaded.digests == listed else { return false }
      loaded.answered = max(loaded.answered, call)
      return true
    }
    if isKnown { return }
    let rows = try await pool.query(PayloadStatements.dictionaries, [], within: limit)
    let (dictionaries, damaged) = try Self.dictionaries(rows)
    let digests = try Self.digests(rows)
    let isReplaced = loaded.withLock { loaded in
      // Of calls at the same time, the one that asked last has the newest answer.
      guard call > loaded.answered else { return false }
      loaded.answered = call
      loaded.digests = digests
      vault.replaceDictionaries(with: dictionaries)
      return true
    }
    guard isReplaced else { return }
    for number in damaged {
      logger?.error(
        "a stored dictionary is damaged, and payloads that need it cannot be read",
        metadata: ["dictionary": .stringConvertible(number)])
    }
  }

  /// Runs a read. When it needs a dictionary that is not loaded, as another process has just added it,
  /// loads the dictionaries and runs it once again.
  func retrying<Value: Sendable>(
    _ read: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    do throws(StoreError) {
      return try await read()
    } catch {
      guard error.code == .unknownDictionary else { throw error }
    }
    try await load()
    return try await read()
  }

  private static func digests(_ rows: PostgresRows) throws(StoreError) -> [UInt32: [UInt8]] {
    var digests: [UInt32: [UInt8]] = [:]
    for row in 0..<rows.count { digests[try number(rows, row)] = try rows.data(row, 1) }
    return digests
  }

  /// - Parameter rows: of ``PayloadStatements/dictionaries``.
  /// - Returns: also the numbers of those that are damaged.
  /// - Throws: ``StoreError/Code/corrupt``.
  private static func dictionaries(
    _ rows: PostgresRows
  ) throws(StoreError) -> (dictionaries: [PayloadDictionary], damaged: [UInt32]) {
    var dictionaries: [PayloadDictionary] = []
    var damaged: [UInt32] = []
    for row in 0..<rows.count {
      let number = try number(rows, row)
      let digest = try rows.data(row, 1)
      let bytes = try rows.data(row, 2)
      if let dictionary = try? PayloadDictionary(number: number, bytes: bytes),
        dictionary.digest == digest
      {
        dictionaries.append(dictionary)
      } else {
        damaged.append(number)
      }
    }
    return (dictionaries, damaged)
  }

  private static func number(_ rows: PostgresRows, _ row: Int) throws(StoreError) -> UInt32 {
    guard let number = UInt32(exactly: try rows.number(row, 0)) else {
      throw StoreError(.corrupt, "a stored dictionary has no number")
    }
    return number
  }
}
