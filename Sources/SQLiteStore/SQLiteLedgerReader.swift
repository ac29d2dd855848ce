import EntitlementDomain
import EntitlementStore
import GRDB
import PayloadCompression

/// Reads rows for a ledger on demand, in the transaction that writes its changes.
struct SQLiteLedgerReader: LedgerReading {
  let database: Database
  let scopes: SQLiteScopeCache
  let vault: PayloadVault

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    guard let scopeID = try scopes.find(fact.scope),
      let row = try database.row(.standingFact, fact.key.arguments(scopeID: scopeID))
    else { return nil }
    let chain: OriginalTransactionID? = try row.packedIdentifier(0)
    let digest = try row.digest(5)
    let signedDate = Milliseconds(row[2])
    let authority = try SQLiteStoredFact.authority(row, at: 1)
    let payload =
      row.hasNull(atIndex: 8)
      ? nil
      : try vault.payload(
        of: row.bytes(8), digest: digest,
        texts: RowTexts(
          identifier: fact.key.identifier, hints: row.hints(9), signedDate: signedDate))
    return StandingFact(
      target: chain.map { .chain($0) } ?? .appTransaction(AppTransactionID(fact.key.identifier)),
      precedence: FactPrecedence(
        authority: authority, signedDate: signedDate,
        isRevoked: row[3], isUpgraded: row[4], digest: digest),
      document: row.hasNull(atIndex: 6) ? nil : try row.digest(6),
      versions: row.hasNull(atIndex: 7)
        ? .single(payload: payload ?? [])
        : .several(try FactHistory(encoded: try row.bytes(7))),
      payload: authority < .signedTransaction ? payload : nil,
      supplement: row.hasNull(atIndex: 12) ? nil : try row.bytes(12))
  }

  func link(of target: ScopedTarget) throws -> LinkRow? {
    guard let scopeID = try scopes.find(target.scope) else { return nil }
    switch target.target {
    case .chain(let id):
      return try database.row(.linkOfChain, [scopeID, id.packed]).map { row in
        LinkRow(
          account: row.identifier(0), isUnsigned: row[1], isDetached: row[2],
          isFormerChain: row[3], standing: try row.linkStanding(4), revision: row[5])
      }
    case .appTransaction(let id):
      return try database.row(.linkOfAppTransaction, [scopeID, id.packed]).map { row in
        LinkRow(
          account: row.identifier(0), isUnsigned: row[1], isDetached: row[2],
          standing: try row.linkStanding(3))
      }
    }
  }

  func events(of target: ScopedTarget) throws -> [LinkEvent] {
    guard let scopeID = try scopes.find(target.scope) else { return [] }
    return try database.linkHistory(of: target.target, scopeID: scopeID)
      .suffix(ClaimHistory.eventLimit)
  }

  func refusedClaim(_ key: RefusedClaim.Key) throws -> Milliseconds? {
    guard let scopeID = try scopes.find(key.target.scope) else { return nil }
    return try database.row(
      .refusedClaim, key.target.target.refusalArguments(scopeID) + [key.claimer.stored]
    ).map { Milliseconds($0[0]) }
  }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    guard let scopeID = try scopes.find(account.scope),
      let stored = try database.account(account.id, scopeID: scopeID)
    else { return nil }
    return AccountRow(
      revision: stored.revision,
      mergedInto: try stored.mergedInto.map { try database.linkedAccount($0).accountID },
      isDeleted: stored.isDeleted, claims: stored.claims, claimsSince: stored.claimsSince,
      chains: stored.chains)
  }

  func token(_ token: ScopedToken) throws -> TokenRow? {
    guard let scopeID = try scopes.find(token.scope) else { return nil }
    return try database.row(.token, [scopeID, token.token.packed])?.knownToken().row
  }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow] {
    guard let scopeID = try scopes.find(scope) else { return [] }
    var hints: [FactHintsRow] = []
    try database.forEachRow(.hintsOfChain, [scopeID, chain.packed]) { row in
      hints.append(
        FactHintsRow(
          fact: try row.factKey(kind: 0, identifier: 1),
          signedDate: Milliseconds(row[2]), digest: try row.digest(3),
          hints: try row.hints(4)))
    }
    return hints
  }

  func facts(of target: ScopedTarget) throws -> [Fact] {
    guard let scopeID = try scopes.find(target.scope) else { return [] }
    switch target.target {
    case .chain(let id):
      guard let chain = try database.chain(id, scopeID: scopeID) else { return [] }
      return try database.facts(.factsOfChain, [chain.id], in: target.scope, vault)
    case .appTransaction(let id):
      let key = FactKey(kind: .appTransaction, identifier: id.rawValue)
      return try database.facts(
        .factByKey, key.arguments(scopeID: scopeID), in: target.scope, vault)
    }
  }

  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    guard let scopeID = try scopes.find(hint.scope) else { return [] }
    let rows =
      switch hint.hint {
      case .token(let token):
        try database.rows(.unlinkedChainsByToken, [scopeID, token.packed, token.packed])
      case .appTransaction(let id):
        try database.rows(.unlinkedChainsByAppTransaction, [scopeID, id.packed, id.packed])
      case .previousChain(let id):
        try database.rows(.unlinkedChainsByPreviousChain, [scopeID, id.packed])
      }
    return try rows.map { try $0.packedIdentifier(0) }
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? {
    guard let scopeID = try scopes.find(grant.scope) else { return nil }
    return try database.grant(grant.id, in: grant.scope, scopeID: scopeID)
  }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    guard let scopeID = try scopes.find(account.scope),
      let stored = try database.account(account.id, scopeID: scopeID)
    else { return AccountHoldings() }
    let chains = try database.rows(.chainsOfAccount, [stored.id])
    let appTransactions = try database.rows(.appTransactionsOfAccount, [stored.id])
    return AccountHoldings(
      targets: try chains.map { .chain(try $0.packedIdentifier(0)) }
        + appTransactions.map { .appTransaction(try $0.packedIdentifier(0)) },
      tokens: try database.rows(.tokensOfAccount, [stored.id, [UInt8]().stored, -1])
        .map { try $0.packedIdentifier(0) },
      grants: try database.grants(ofAccount: stored.id, in: account.scope),
      merged: try database.rows(.mergedAccounts, [stored.id]).map { $0.identifier(1) })
  }

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    try database.row(.findNotification, [notification.stored]) != nil
  }

  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob? {
    try database.job(reference)
  }

  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord? {
    try database.consumption(key)
  }

  func consent(of account: ScopedAccount) throws -> ConsumptionConsent? {
    guard let scopeID = try scopes.find(account.scope),
      let stored = try database.account(account.id, scopeID: scopeID)
    else { return nil }
    return try database.consent(ofAccount: stored.id)
  }
}
