package import EntitlementDomain
package import EntitlementStore
import GRDB

// The audit trail (R76–R78).
extension SQLiteStore {
  package func auditEntries(_ query: AuditQuery) async throws(StoreError) -> [AuditEntry] {
    let limit = max(0, query.limit)
    return try await read { database in
      if query.isByChain {
        return try database.rows(
          .auditEntriesByChain, [query.after.chain.stored, query.after.position, limit]
        ).map { AuditEntry($0) }
      }
      var pseudonyms: String?
      if let account = query.account, let scope = query.scope {
        let found = try database.auditPseudonyms(of: account, in: scope)
        if found.isEmpty { return [] }
        pseudonyms = found.joined(separator: ",")
      }
      var after = query.after
      if let from = query.from, after.at < from {
        after = AuditQuery.Place(at: from, chain: "", position: 0)
      }
      let bundleID = try query.scope?.bundleID.stored
      let method = try query.method?.stored
      let author = try query.author?.stored
      let onBehalfOf = try query.onBehalfOf?.stored
      return try database.rows(
        .auditEntriesByTime,
        [
          after.at.rawValue, after.chain.stored, after.position,
          (query.until ?? Milliseconds(.max)).rawValue, bundleID, bundleID,
          query.scope?.environment.rawValue, method, method, author, author, onBehalfOf,
          onBehalfOf, pseudonyms, pseudonyms, pseudonyms, limit,
        ]
      ).map { AuditEntry($0) }
    }
  }

  package func auditSeals(after number: Int64, limit: Int) async throws(StoreError) -> [AuditSeal] {
    let limit = max(0, limit)
    return try await read { database in
      try database.rows(.auditSealPage, [number, limit]).map { row in
        let chains = try database.rows(.auditChainsOfSeal, [row[0] as Int64]).map { row in
          SealedChain(
            chain: row[0], head: AuditHead(position: row[1], hash: row[2]),
            removed: AuditHead(position: row[3], hash: row[4]))
        }
        return AuditSeal(
          number: row[0], at: Milliseconds(row[1]), node: row[2], chains: chains,
          previous: row[3], hash: row[4])
      }
    }
  }

  /// The process owns the file, so it needs no lease.
  package func sealAudit(keepingDays days: Int?, now: Milliseconds) async throws(StoreError)
    -> AuditSeal?
  {
    let node = trail.node
    return try await write { database -> AuditSeal? in
      var chains: Set<String> = []
      if let days {
        chains = try database.removeAuditEntries(
          before: now.advanced(by: -86_400_000 * Int64(days)))
      }
      for row in try database.rows(.unsealedAuditChains, [AuditSeal.maximumChains - chains.count]) {
        chains.insert(row[0])
      }
      if chains.isEmpty { return nil }
      let sealed = try chains.sorted().map { chain in
        guard let row = try database.row(.sealedAuditChain, [chain]) else {
          throw StoreError(.corrupt, "the head of an audit chain is not stored")
        }
        return SealedChain(
          chain: chain, head: AuditHead(position: row[0], hash: row[1]),
          removed: AuditHead(position: row[2], hash: row[3]))
      }
      let last = try database.row(.lastAuditSeal, [])
      var seal = AuditSeal(
        number: (last?[0] ?? 0) + 1, at: now, node: node, chains: sealed,
        previous: last?[1] ?? "")
      seal.hash = try seal.computedHash()
      try database.insert(seal)
      return seal
    }
  }
}

extension Database {
  /// The pseudonyms of an account and of the accounts that were merged into it.
  fileprivate func auditPseudonyms(of account: AccountID, in scope: AppScope) throws -> [String] {
    guard let scopeID = try scopeID(scope) else { return [] }
    var names = [account]
    if let stored = try resolvedAccount(account, in: scope) {
      names = [stored.accountID] + (try rows(.mergedAccounts, [stored.id]).map { $0.identifier(1) })
    }
    return try names.compactMap { name in
      try row(.auditPseudonym, [scopeID, name.stored])?[0]
    }
  }

  /// - Returns: the chains that lost entries.
  fileprivate func removeAuditEntries(before moment: Milliseconds) throws -> Set<String> {
    var shortened: Set<String> = []
    let chains: [String] = try rows(
      .oldestAuditEntries, [moment.rawValue, AuditSeal.maximumOldest]
    ).map { $0[0] }
    for chain in Set(chains) {
      guard
        let position: Int64 = try self.row(
          .oldAuditPosition,
          [chain, AuditSeal.maximumRemoved, chain, moment.rawValue, chain, chain])?[0],
        let hash: String = try self.row(.auditHash, [chain, position])?[0]
      else { continue }
      try run(.removeAuditEntries, [chain, position])
      try run(.setAuditRemoval, [position, hash, chain])
      shortened.insert(chain)
    }
    return shortened
  }

  fileprivate func insert(_ seal: AuditSeal) throws {
    try run(
      .insertAuditSeal,
      [seal.number, seal.at.rawValue, seal.node.stored, seal.previous, seal.hash])
    for chain in seal.chains {
      try run(
        .insertAuditSealChain,
        [
          seal.number, chain.chain, chain.head.position, chain.head.hash, chain.removed.position,
          chain.removed.hash,
        ])
      try run(.setAuditSealed, [chain.chain])
    }
  }

  /// Writes the entries of a transaction, and the changes of pseudonyms.
  ///
  /// - Returns: the entries.
  func write(
    _ calls: [AuditCall], by trail: AuditTrail, _ scopes: SQLiteScopeCache
  ) throws -> [AuditEntry] {
    guard let first = calls.first else { return [] }
    var known: [ScopedAccount: String] = [:]
    for account in calls.flatMap(\.accounts) {
      guard let scopeID = try scopes.find(account.scope) else { continue }
      known[account] = try row(.auditPseudonym, [scopeID, account.id.stored])?[0]
    }
    let place = trail.place
    let head = try row(.auditHead, [place.chain]).map {
      AuditHead(position: $0[0], hash: $0[1])
    }
    var appender = try AuditAppender(
      node: trail.node, known: place, stored: head ?? .start, pseudonyms: known, at: first.at)
    for call in calls { try appender.append(call) }
    for entry in appender.entries { try insert(entry) }
    let last = appender.place
    try run(.setAuditHead, [last.chain, last.head.position, last.head.hash])
    for account in appender.erased {
      try run(.deleteAuditPseudonym, [scopes.interned(account.scope), account.id.stored])
    }
    for (account, pseudonym) in appender.added {
      try run(
        .insertAuditPseudonym,
        [scopes.interned(account.scope), account.id.stored, pseudonym])
    }
    return appender.entries
  }

  private func insert(_ entry: AuditEntry) throws {
    try run(
      .insertAuditEntry,
      [
        entry.chain, entry.position, entry.node.stored, entry.at.rawValue, entry.peer.stored,
        entry.method, entry.bundleID.stored, entry.environment, entry.account,
        entry.formerAccount, entry.author.stored, entry.reason.stored, entry.subject.stored,
        entry.outcome, entry.previous, entry.hash, entry.onBehalfOf.stored, entry.proof,
        entry.tokenID.stored,
      ])
  }
}

extension AuditEntry {
  /// - Parameter row: a row of ``StoreStatement/auditEntriesByChain``.
  fileprivate init(_ row: Row) {
    self.init(
      chain: row[0], position: row[1], node: row[2], at: Milliseconds(row[3]), peer: row[4],
      method: row[5], bundleID: row[6], environment: row[7], account: row[8],
      formerAccount: row[9], author: row[10], onBehalfOf: row[16], proof: row[17],
      tokenID: row[18], reason: row[11], subject: row[12],
      outcome: row[13], previous: row[14], hash: row[15])
  }
}
