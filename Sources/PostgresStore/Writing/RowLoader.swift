import EntitlementDomain
import EntitlementStore
import PayloadCompression

/// Loads the rows that a ledger needs into ``LoadedRows``, with one command for each kind of row.
struct RowLoader {
  /// A command, and the closure that decodes its rows.
  private struct Load {
    let command: PostgresCommand
    let take: (PostgresRows, inout LoadedRows) throws(StoreError) -> Void
  }

  private let scopes: PostgresScopeIDs
  private let keys: Set<LedgerKey>
  private let vault: PayloadVault
  private var loads: [Load] = []

  init(_ keys: Set<LedgerKey>, scopes: PostgresScopeIDs, vault: PayloadVault) {
    self.scopes = scopes
    self.vault = vault
    self.keys = keys
    var facts: [ScopedFact] = []
    var links: [ScopedTarget] = []
    var targetsOfEvents: [ScopedTarget] = []
    var refusedClaims: [RefusedClaim.Key] = []
    var accounts: [ScopedAccount] = []
    var tokens: [ScopedToken] = []
    var chainsOfHints: [ScopedTarget] = []
    var targetsOfFacts: [ScopedTarget] = []
    var hints: [ScopedHint] = []
    var grants: [ScopedGrant] = []
    var holders: [ScopedAccount] = []
    var notifications: [NotificationUUID] = []
    var jobs: [AppStoreJobKey] = []
    var purchases: [ConsumptionKey] = []
    var consents: [ScopedAccount] = []
    for key in keys {
      switch key {
      case .standingFact(let fact): facts.append(fact)
      case .link(let target): links.append(target)
      case .events(let target): targetsOfEvents.append(target)
      case .refusedClaim(let key): refusedClaims.append(key)
      case .account(let account): accounts.append(account)
      case .token(let token): tokens.append(token)
      case .hints(let scope, let chain): chainsOfHints.append(ScopedTarget(scope, .chain(chain)))
      case .facts(let target): targetsOfFacts.append(target)
      case .unlinkedChains(let hint): hints.append(hint)
      case .grant(let grant): grants.append(grant)
      case .holdings(let account): holders.append(account)
      case .notification(let uuid): notifications.append(uuid)
      case .job(let key): jobs.append(key)
      case .consumption(let key): purchases.append(key)
      case .consent(let account): consents.append(account)
      }
    }
    addFacts(facts)
    addLinks(links)
    addEvents(of: targetsOfEvents)
    addRefusedClaims(refusedClaims)
    addAccounts(accounts)
    addTokens(tokens)
    addHints(of: chainsOfHints)
    addFacts(of: targetsOfFacts)
    addUnlinkedChains(hints)
    addGrants(grants)
    addHoldings(of: holders)
    addNotifications(notifications)
    addJobs(jobs)
    addConsumption(purchases)
    addConsents(of: consents)
  }

  var commands: [PostgresCommand] { loads.map(\.command) }

  /// - Parameter results: the results of ``commands``, in order.
  /// - Throws: ``StoreError/Code/corrupt``.
  func take(_ results: ArraySlice<PostgresRows>, into rows: inout LoadedRows) throws(StoreError) {
    rows.markLoaded(keys)
    for (load, result) in zip(loads, results) { try load.take(result, &rows) }
  }

  // MARK: Commands

  private mutating func addFacts(_ facts: [ScopedFact]) {
    add(
      LoadStatements.standingFacts, facts,
      [
        .int64s(facts.map { scopes[$0.scope] }), .int64s(facts.map { Int64($0.key.kind.rawValue) }),
        .byteStrings(facts.map(\.key.packedIdentifier)),
      ]
    ) { [vault] result, row, fact, rows throws(StoreError) in
      let precedence = FactPrecedence(
        authority: try result.authority(row, 2), signedDate: try result.moment(row, 3),
        isRevoked: try result.flag(row, 4), isUpgraded: try result.flag(row, 5),
        digest: try result.digest(row, 6))
      let payload = try result.optionalData(row, 9).map { stored throws(StoreError) in
        StoredFactPayload(
          stored: stored, digest: precedence.digest,
          texts: RowTexts(
            identifier: fact.key.identifier, hints: try result.hints(row, 10),
            signedDate: precedence.signedDate))
      }
      rows.standingPayloads[fact] = payload
      let history = try result.optionalData(row, 8)
      let mayComplete = precedence.authority < .signedTransaction
      var plain: [UInt8]?
      if let payload, history == nil || mayComplete {
        plain = try vault.payload(
          of: payload.stored, digest: payload.digest, texts: payload.texts)
      }
      var versions = StoredVersions.single(payload: plain ?? [])
      if let history { versions = .several(try FactHistory(encoded: history)) }
      rows.standingFacts[fact] = StandingFact(
        target: try result.linkTarget(row, 1), precedence: precedence,
        document: try result.optionalDigest(row, 7), versions: versions,
        payload: mayComplete ? plain : nil, supplement: try result.optionalData(row, 13))
    }
  }

  private mutating func addLinks(_ targets: [ScopedTarget]) {
    add(LoadStatements.links, targets, targetArrays(targets)) {
      result, row, target, rows throws(StoreError) in
      rows.links[target] = LinkRow(
        account: try result.optionalIdentifier(row, 1), isUnsigned: try result.flag(row, 2),
        isDetached: try result.flag(row, 3), isFormerChain: try result.flag(row, 4),
        standing: try result.linkStanding(row, 5), revision: try result.number(row, 6))
      try rows.takeAccount(result, row, 7, scope: target.scope)
    }
  }

  private mutating func addEvents(of targets: [ScopedTarget]) {
    add(LoadStatements.events, targets, targetArrays(targets)) {
      result, row, target, rows throws(StoreError) in
      rows.events[target, default: []].append(try result.linkEvent(row, 1))
    }
  }

  private mutating func addRefusedClaims(_ keys: [RefusedClaim.Key]) {
    add(
      LoadStatements.refusedClaims, keys,
      targetArrays(keys.map(\.target)) + [.texts(keys.map(\.claimer.rawValue))]
    ) { result, row, key, rows throws(StoreError) in
      rows.refusedClaims[key] = try result.moment(row, 1)
    }
  }

  private mutating func addAccounts(_ accounts: [ScopedAccount]) {
    add(LoadStatements.accounts, accounts, accountArrays(accounts)) {
      result, row, account, rows throws(StoreError) in
      try rows.takeAccount(result, row, 1, scope: account.scope)
      try rows.takeAccount(result, row, 8, scope: account.scope)
    }
  }

  private mutating func addTokens(_ tokens: [ScopedToken]) {
    add(
      LoadStatements.tokens, tokens,
      [
        .int64s(tokens.map { scopes[$0.scope] }),
        .byteStrings(tokens.map(\.token.packedBytes)),
      ]
    ) { result, row, token, rows throws(StoreError) in
      rows.tokens[token] = try result.tokenRow(row, 1)
      try rows.takeAccount(result, row, 7, scope: token.scope)
    }
  }

  private mutating func addHints(of chains: [ScopedTarget]) {
    add(LoadStatements.hints, chains, targetArrays(chains)) {
      result, row, chain, rows throws(StoreError) in
      let key = FactKey(kind: try result.factKind(row, 1), identifier: try result.unpacked(row, 2))
      rows.hints[chain, default: []].append(
        FactHintsRow(
          fact: key, signedDate: try result.moment(row, 3), digest: try result.digest(row, 4),
          hints: try result.hints(row, 5)))
    }
  }

  private mutating func addFacts(of targets: [ScopedTarget]) {
    add(LoadStatements.facts, targets, targetArrays(targets)) {
      [vault] result, row, target, rows throws(StoreError) in
      let fact = try PostgresStoredFact.decode(
        result, row, firstColumn: 1, scope: target.scope, vault: vault)
      let supplement = try PostgresStoredFact.supplement(result, row, 10, of: fact)
      rows.facts[target, default: []].append(supplement?.completing(fact) ?? fact)
    }
  }

  private mutating func addUnlinkedChains(_ hints: [ScopedHint]) {
    add(
      LoadStatements.unlinkedChains, hints,
      [.int64s(hints.map { scopes[$0.scope] })]
        + HintColumn.allCases.map { column in .byteStrings(hints.map { column.packed($0.hint) }) }
    ) { result, row, hint, rows throws(StoreError) in
      guard case .chain(let chain) = try result.linkTarget(row, 1) else {
        throw StoreError(.corrupt, "a stored hint does not belong to a chain")
      }
      rows.unlinkedChains[hint, default: []].append(chain)
    }
  }

  private mutating func addGrants(_ grants: [ScopedGrant]) {
    add(
      LoadStatements.grants, grants,
      [.int64s(grants.map { scopes[$0.scope] }), .texts(grants.map(\.id.rawValue))]
    ) { result, row, grant, rows throws(StoreError) in
      rows.grants[grant] = try result.grant(row, 1, scope: grant.scope)
      try rows.takeAccount(result, row, 14, scope: grant.scope)
    }
  }

  private mutating func addHoldings(of accounts: [ScopedAccount]) {
    let arrays = accountArrays(accounts)
    add(LoadStatements.holdingsTargets, accounts, arrays) {
      result, row, account, rows throws(StoreError) in
      rows.holdings[account, default: AccountHoldings()].targets.append(
        try result.linkTarget(row, 1))
    }
    add(LoadStatements.holdingsTokens, accounts, arrays) {
      result, row, account, rows throws(StoreError) in
      rows.holdings[account, default: AccountHoldings()].tokens.append(
        try result.packedIdentifier(row, 1))
    }
    add(LoadStatements.holdingsGrants, accounts, arrays) {
      result, row, account, rows throws(StoreError) in
      rows.holdings[account, default: AccountHoldings()].grants.append(
        try result.grant(row, 1, scope: account.scope))
    }
    add(LoadStatements.holdingsMerged, accounts, arrays) {
      result, row, account, rows throws(StoreError) in
      rows.holdings[account, default: AccountHoldings()].merged.append(
        try result.identifier(row, 1))
    }
  }

  private mutating func addNotifications(_ notifications: [NotificationUUID]) {
    add(
      LoadStatements.notifications, notifications, [.texts(notifications.map(\.rawValue))]
    ) { _, _, uuid, rows throws(StoreError) in
      rows.notifications.insert(uuid)
    }
  }

  private mutating func addJobs(_ jobs: [AppStoreJobKey]) {
    add(JobStatements.load, jobs, PostgresValue.jobKeys(jobs, scopes)) {
      result, row, key, rows throws(StoreError) in
      rows.jobs[key] = try result.job(row, 1, scope: key.scope)
    }
  }

  private mutating func addConsumption(_ purchases: [ConsumptionKey]) {
    add(
      ConsumptionStatements.load, purchases,
      [
        .int64s(purchases.map { scopes[$0.scope] }),
        .texts(purchases.map(\.transactionID.rawValue)),
      ]
    ) { result, row, key, rows throws(StoreError) in
      rows.consumption[key] = try result.consumption(row, 1, scope: key.scope)
    }
  }

  private mutating func addConsents(of accounts: [ScopedAccount]) {
    add(ConsumptionStatements.loadConsents, accounts, accountArrays(accounts)) {
      result, row, account, rows throws(StoreError) in
      rows.consents[account] = try result.consent(row)
    }
  }

  // MARK: Steps

  private func targetArrays(_ targets: [ScopedTarget]) -> [PostgresValue] {
    [.int64s(targets.map { scopes[$0.scope] }), .byteStrings(targets.map(\.target.stored))]
  }

  private func accountArrays(_ accounts: [ScopedAccount]) -> [PostgresValue] {
    [.int64s(accounts.map { scopes[$0.scope] }), .texts(accounts.map(\.id.rawValue))]
  }

  /// - Parameter take: decodes one row of a key.
  private mutating func add<Key>(
    _ statement: PostgresStatement, _ keys: [Key], _ values: [PostgresValue],
    take: @escaping (PostgresRows, Int, Key, inout LoadedRows) throws(StoreError) -> Void
  ) {
    if keys.isEmpty { return }
    loads.append(
      Load(
        command: PostgresCommand(statement, values),
        take: { (result: PostgresRows, rows: inout LoadedRows) throws(StoreError) in
          for row in 0..<result.count {
            // The position that the statement returns, from 1.
            let position = Int(try result.number(row, 0)) - 1
            guard keys.indices.contains(position) else {
              throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
            }
            try take(result, row, keys[position], &rows)
          }
        }))
  }
}

extension LoadedRows {
  /// Decodes the row of an account that was loaded together with another row. All such accounts are
  /// locked.
  ///
  /// - Parameter column: the first column of the account, in the order of `LoadStatements`.
  fileprivate mutating func takeAccount(
    _ result: PostgresRows, _ row: Int, _ column: Int, scope: AppScope
  ) throws(StoreError) {
    guard let id: AccountID = try result.optionalIdentifier(row, column) else { return }
    let account = ScopedAccount(scope, id)
    accounts[account] = AccountRow(
      revision: try result.number(row, column + 1),
      mergedInto: try result.optionalIdentifier(row, column + 2),
      isDeleted: try result.flag(row, column + 3), claims: Int(try result.number(row, column + 4)),
      claimsSince: try result.optionalNumber(row, column + 5).map { Milliseconds($0) },
      chains: Int(try result.number(row, column + 6)))
    markLoaded([.account(account)])
  }
}
