package import EntitlementDomain
package import EntitlementStore

// The audit trail (R76–R78).
extension PostgresStore {
  package func record(_ call: AuditCall) async throws(StoreError) {
    try await write(LedgerKey.expected(by: call), in: Set([call.scope].compactMap(\.self))) {
      ledger in
      try ledger.record(call)
      return { _ in }
    }
  }

  package func auditEntries(_ query: AuditQuery) async throws(StoreError) -> [AuditEntry] {
    let limit = PostgresValue.int64(Int64(max(0, query.limit)))
    let after = query.after
    if query.isByChain {
      return try await self.query(
        AuditStatements.entriesByChain, [.text(after.chain), .int64(after.position), limit]
      ).auditEntries()
    }
    var pseudonyms = PostgresValue.null
    if let account = query.account, let scope = query.scope {
      guard let scopeID = try await scopes.id(of: scope) else { return [] }
      let rows = try await self.query(
        AuditStatements.pseudonymsOfAccount, [.int64(scopeID), .text(account.rawValue)])
      if rows.count == 0 { return [] }
      pseudonyms = .texts(try rows.map { rows, row throws(StoreError) in try rows.string(row, 0) })
    }
    var from = after
    if let moment = query.from, after.at < moment {
      from = AuditQuery.Place(at: moment, chain: "", position: 0)
    }
    return try await self.query(
      AuditStatements.entriesByTime,
      [
        .int64(from.at.rawValue), .text(from.chain), .int64(from.position),
        .int64((query.until ?? Milliseconds(.max)).rawValue),
        Self.filter(query.scope?.bundleID.rawValue), Self.filter(query.scope?.environment.rawValue),
        Self.filter(query.method), Self.filter(query.author), pseudonyms, limit,
        Self.filter(query.onBehalfOf),
      ]
    ).auditEntries()
  }

  private static func filter(_ text: String?) -> PostgresValue {
    text.map { .text($0) } ?? .null
  }

  package func auditSeals(after number: Int64, limit: Int) async throws(StoreError) -> [AuditSeal] {
    let rows = try await query(
      AuditStatements.seals, [.int64(number), .int64(Int64(max(0, limit)))])
    guard rows.count > 0 else { return [] }
    // A seal is written once, so another snapshot has the same chains.
    let chains = try await query(
      AuditStatements.chainsOfSeals,
      [.int64(try rows.number(0, 0)), .int64(try rows.number(rows.count - 1, 0))])
    var sealed: [Int64: [SealedChain]] = [:]
    for row in 0..<chains.count {
      sealed[try chains.number(row, 0), default: []].append(try chains.sealedChain(row, 1))
    }
    return try rows.map { rows, row throws(StoreError) in
      let number = try rows.number(row, 0)
      return AuditSeal(
        number: number, at: try rows.moment(row, 1), node: try rows.string(row, 2),
        chains: sealed[number] ?? [], previous: try rows.string(row, 3),
        hash: try rows.string(row, 4))
    }
  }

  // MARK: Sealing

  /// Uses the clock of the database.
  package func sealAudit(keepingDays days: Int?, now: Milliseconds) async throws(StoreError)
    -> AuditSeal?
  {
    let due = try await query(AuditStatements.isDue, [days.map { .int64(Int64($0)) } ?? .null])
    guard try due.flag(0, 0) else { return nil }
    do {
      return try await primary.withSession(within: limits.writeTimeLimit) { session in
        try await SealTransaction(session: session, trail: trail, limit: limits.writeTimeLimit)
          .seal(keepingDays: days)
      }
    } catch {
      throw StoreError(of: error)
    }
  }
}

/// Writes one seal in one transaction. The session rolls back when it is returned early.
private struct SealTransaction {
  let session: PostgresSession
  let trail: AuditTrail
  let limit: Duration

  func seal(keepingDays days: Int?) async throws -> AuditSeal? {
    let begun = try await session.exchange(
      [
        PostgresCommand(Self.begin),
        PostgresCommand(AuditStatements.lease, [.text(trail.process)]),
      ], within: limit)
    guard begun[1].count > 0 else {
      _ = try await session.exchange([PostgresCommand(Self.rollback)], within: limit)
      return nil
    }
    let now = try begun[1].moment(0, 0)
    let removed = try await removable(keepingDays: days, now: now)
    let found = try await session.exchange(
      [
        PostgresCommand(AuditStatements.lastSeal),
        PostgresCommand(
          AuditStatements.unsealed, [.int64(Int64(AuditSeal.maximumChains - removed.count))]),
      ], within: limit)
    var chains = removed
    for row in 0..<found[1].count {
      let chain = try found[1].sealedChain(row, 0)
      if chains[chain.chain] == nil { chains[chain.chain] = chain }
    }
    if chains.isEmpty {
      _ = try await session.exchange([PostgresCommand(Self.rollback)], within: limit)
      return nil
    }
    let isFirst = found[0].count == 0
    var seal = AuditSeal(
      number: isFirst ? 1 : try found[0].number(0, 0) + 1, at: now, node: trail.node,
      chains: chains.values.sorted { $0.chain < $1.chain },
      previous: isFirst ? "" : try found[0].string(0, 1))
    seal.hash = try seal.computedHash()
    try await write(seal, removing: Array(removed.values))
    return seal
  }

  /// The chains with old entries, as they will be after the removal.
  private func removable(
    keepingDays days: Int?, now: Milliseconds
  ) async throws -> [String: SealedChain] {
    guard let days else { return [:] }
    let moment = now.advanced(by: -86_400_000 * Int64(days))
    let old = try await session.exchange(
      [
        PostgresCommand(
          AuditStatements.oldestEntries,
          [.int64(moment.rawValue), .int64(Int64(AuditSeal.maximumOldest))])
      ], within: limit)[0]
    let chains = try old.map { rows, row throws(StoreError) in try rows.string(row, 0) }
    if chains.isEmpty { return [:] }
    let rows = try await session.exchange(
      [
        PostgresCommand(
          AuditStatements.removable,
          [.texts(chains), .int64(moment.rawValue), .int64(AuditSeal.maximumRemoved)])
      ], within: limit)[0]
    var removable: [String: SealedChain] = [:]
    for row in 0..<rows.count {
      let chain = try rows.sealedChain(row, 0)
      removable[chain.chain] = chain
    }
    return removable
  }

  private func write(_ seal: AuditSeal, removing removed: [SealedChain]) async throws {
    var commands: [PostgresCommand] = []
    if !removed.isEmpty {
      commands = [
        PostgresCommand(AuditStatements.allowRemoval),
        PostgresCommand(
          AuditStatements.removeEntries,
          [.texts(removed.map(\.chain)), .int64s(removed.map(\.removed.position))]),
      ]
    }
    let chains = seal.chains
    commands += [
      PostgresCommand(
        AuditStatements.addSeal,
        [
          .int64(seal.number), .int64(seal.at.rawValue), .text(seal.node), .text(seal.previous),
          .text(seal.hash),
        ]),
      PostgresCommand(
        AuditStatements.addSealChains,
        [
          .int64(seal.number), .texts(chains.map(\.chain)), .int64s(chains.map(\.head.position)),
          .texts(chains.map(\.head.hash)), .int64s(chains.map(\.removed.position)),
          .texts(chains.map(\.removed.hash)),
        ]),
      PostgresCommand(
        AuditStatements.setSealed,
        [
          .texts(chains.map(\.chain)), .int64s(chains.map(\.head.position)),
          .int64s(chains.map(\.removed.position)), .texts(chains.map(\.removed.hash)),
        ]),
      PostgresCommand(Self.commit),
    ]
    let results = try await session.exchange(commands, within: limit)
    guard results.last?.tag == "COMMIT" else {
      throw PostgresFailure(.protocolViolation, "COMMIT did not commit the transaction")
    }
  }

  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL READ COMMITTED", name: "begin_seal")
  private static let commit = PostgresStatement("COMMIT", name: "commit_seal")
  private static let rollback = PostgresStatement("ROLLBACK", name: "roll_back_seal")
}

extension PostgresRows {
  /// - Parameter column: the first of five columns: chain, position, hash, and those of the last
  ///   removed entry.
  fileprivate func sealedChain(_ row: Int, _ column: Int) throws(StoreError) -> SealedChain {
    SealedChain(
      chain: try string(row, column),
      head: AuditHead(position: try number(row, column + 1), hash: try string(row, column + 2)),
      removed: AuditHead(
        position: try number(row, column + 3), hash: try string(row, column + 4)))
  }

  /// Decodes rows of ``AuditStatements/columns``.
  fileprivate func auditEntries() throws(StoreError) -> [AuditEntry] {
    try map { rows, row throws(StoreError) in
      AuditEntry(
        chain: try rows.string(row, 0), position: try rows.number(row, 1),
        node: try rows.string(row, 2), at: try rows.moment(row, 3), peer: try rows.string(row, 4),
        method: try rows.string(row, 5), bundleID: try rows.string(row, 6),
        environment: try rows.string(row, 7), account: try rows.string(row, 8),
        formerAccount: try rows.string(row, 9), author: try rows.string(row, 10),
        onBehalfOf: try rows.string(row, 16), proof: try rows.string(row, 17),
        tokenID: try rows.string(row, 18),
        reason: try rows.string(row, 11), subject: try rows.string(row, 12),
        outcome: try rows.string(row, 13), previous: try rows.string(row, 14),
        hash: try rows.string(row, 15))
    }
  }
}
