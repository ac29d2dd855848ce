import EntitlementDomain
import EntitlementStore

/// Reads what a ledger needs into ``LoadedRows``: one command for each kind of it.
struct RowLoader {
  /// A command, and what takes its rows in.
  private struct Load {
    let command: PostgresCommand
    let take: (PostgresRows, inout LoadedRows) throws(StoreError) -> Void
  }

  private let scopes: ScopeNumbers
  private let keys: Set<LedgerKey>
  private var loads: [Load] = []

  init(_ keys: Set<LedgerKey>, scopes: ScopeNumbers) {
    self.scopes = scopes
    self.keys = keys
    addFacts()
    addLinks()
    addAccounts()
    addTokens()
    addHints()
    addGrants()
    addHoldings()
    addNotifications()
  }

  var commands: [PostgresCommand] { loads.map(\.command) }

  /// - Parameter results: of ``commands``, in their order.
  /// - Throws: ``StoreError/Code/corrupt``.
  func take(_ results: ArraySlice<PostgresRows>, into rows: inout LoadedRows) throws(StoreError) {
    for (load, result) in zip(loads, results) { try load.take(result, &rows) }
    rows.note(keys)
  }

  // MARK: Commands

  private mutating func addFacts() {
    let facts = keys.compactMap { key in
      if case .standingFact(let fact) = key { fact } else { nil }
    }
    add(
      LoadStatements.standingFacts, facts,
      [
        .int64s(facts.map { scopes[$0.scope] }), .int64s(facts.map { Int64($0.key.kind.rawValue) }),
        .texts(facts.map(\.key.identifier)),
      ]
    ) { result, row, fact, rows throws(StoreError) in
      let precedence = FactPrecedence(
        authority: try result.authority(row, 2), signedDate: try result.moment(row, 3),
        isRevoked: try result.flag(row, 4), isUpgraded: try result.flag(row, 5),
        digest: try result.digest(row, 6))
      rows.standingFacts[fact] = LoadedRows.StoredFact(
        standing: StandingFact(
          target: try LinkTarget(stored: result.string(row, 1)), precedence: precedence,
          document: try result.optionalDigest(row, 7)),
        hints: try result.hints(row, 8))
    }
  }

  private mutating func addLinks() {
    let targets = keys.compactMap { key in
      if case .link(let target) = key { target } else { nil }
    }
    add(LoadStatements.links, targets, targetArrays(targets)) {
      result, row, target, rows throws(StoreError) in
      rows.links[target] = LinkRow(
        account: try result.optionalIdentifier(row, 1), isUnsigned: try result.flag(row, 2),
        isDetached: try result.flag(row, 3), revision: try result.number(row, 4))
      try rows.takeAccount(result, row, 5, scope: target.scope)
    }
  }

  private mutating func addAccounts() {
    let accounts = keys.compactMap { key in
      if case .account(let account) = key { account } else { nil }
    }
    add(LoadStatements.accounts, accounts, accountArrays(accounts)) {
      result, row, account, rows throws(StoreError) in
      try rows.takeAccount(result, row, 1, scope: account.scope)
      try rows.takeAccount(result, row, 7, scope: account.scope)
    }
  }

  private mutating func addTokens() {
    let tokens = keys.compactMap { key in
      if case .token(let token) = key { token } else { nil }
    }
    add(
      LoadStatements.tokens, tokens,
      [.int64s(tokens.map { scopes[$0.scope] }), .texts(tokens.map(\.token.rawValue))]
    ) { result, row, token, rows throws(StoreError) in
      rows.tokens[token] = try result.identifier(row, 1)
      try rows.takeAccount(result, row, 2, scope: token.scope)
    }
  }

  private mutating func addHints() {
    let chains = keys.compactMap { key in
      if case .hints(let scope, let chain) = key { ScopedTarget(scope, .chain(chain)) } else { nil }
    }
    add(LoadStatements.hints, chains, targetArrays(chains)) {
      result, row, chain, rows throws(StoreError) in
      let key = FactKey(kind: try result.factKind(row, 1), identifier: try result.string(row, 2))
      rows.hints[chain, default: []].append(
        FactHintsRow(
          fact: key, signedDate: try result.moment(row, 3), digest: try result.digest(row, 4),
          hints: try result.hints(row, 5)))
    }
    let targets = keys.compactMap { key in
      if case .facts(let target) = key { target } else { nil }
    }
    add(LoadStatements.facts, targets, targetArrays(targets)) {
      result, row, target, rows throws(StoreError) in
      rows.facts[target, default: []].append(
        try StoredFact.decode(result, row, firstColumn: 1, scope: target.scope))
    }
    let hints = keys.compactMap { key in
      if case .unlinkedChains(let hint) = key { hint } else { nil }
    }
    add(
      LoadStatements.unlinkedChains, hints,
      [
        .int64s(hints.map { scopes[$0.scope] }),
        .texts(hints.map { $0.hint.stored(isSigned: true) }),
      ]
    ) { result, row, hint, rows throws(StoreError) in
      guard case .chain(let chain) = try LinkTarget(stored: result.string(row, 1)) else {
        throw StoreError(.corrupt, "a stored hint is not that of a chain")
      }
      rows.unlinkedChains[hint, default: []].append(chain)
    }
  }

  private mutating func addGrants() {
    let grants = keys.compactMap { key in
      if case .grant(let grant) = key { grant } else { nil }
    }
    add(
      LoadStatements.grants, grants,
      [.int64s(grants.map { scopes[$0.scope] }), .texts(grants.map(\.id.rawValue))]
    ) { result, row, grant, rows throws(StoreError) in
      rows.grants[grant] = try result.grant(row, 1, scope: grant.scope)
      try rows.takeAccount(result, row, 12, scope: grant.scope)
    }
  }

  private mutating func addHoldings() {
    let accounts = keys.compactMap { key in
      if case .holdings(let account) = key { account } else { nil }
    }
    let arrays = accountArrays(accounts)
    add(LoadStatements.holdingsTargets, accounts, arrays) {
      result, row, account, rows throws(StoreError) in
      rows.holdings[account, default: AccountHoldings()].targets.append(
        try LinkTarget(stored: result.string(row, 1)))
    }
    add(LoadStatements.holdingsTokens, accounts, arrays) {
      result, row, account, rows throws(StoreError) in
      rows.holdings[account, default: AccountHoldings()].tokens.append(
        try result.identifier(row, 1))
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

  private mutating func addNotifications() {
    let notifications = keys.compactMap { key in
      if case .notification(let uuid) = key { uuid } else { nil }
    }
    add(
      LoadStatements.notifications, notifications, [.texts(notifications.map(\.rawValue))]
    ) { _, _, uuid, rows throws(StoreError) in
      rows.notifications.insert(uuid)
    }
  }

  // MARK: Steps

  private func targetArrays(_ targets: [ScopedTarget]) -> [PostgresValue] {
    [.int64s(targets.map { scopes[$0.scope] }), .texts(targets.map(\.target.stored))]
  }

  private func accountArrays(_ accounts: [ScopedAccount]) -> [PostgresValue] {
    [.int64s(accounts.map { scopes[$0.scope] }), .texts(accounts.map(\.id.rawValue))]
  }

  /// - Parameter take: takes in a row that was found for a key.
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
            // Places are numbers of ours, from 1.
            let place = Int(try result.number(row, 0)) - 1
            guard keys.indices.contains(place) else {
              throw StoreError(.internalFault, "the database answered what was not asked for")
            }
            try take(result, row, keys[place], &rows)
          }
        }))
  }
}

extension LoadedRows {
  /// Takes in the row of an account that came beside something else; all of these are locked.
  ///
  /// - Parameter column: the first of those that `LoadStatements` gives an account.
  fileprivate mutating func takeAccount(
    _ result: PostgresRows, _ row: Int, _ column: Int, scope: AppScope
  ) throws(StoreError) {
    guard let id: AccountID = try result.optionalIdentifier(row, column) else { return }
    let account = ScopedAccount(scope, id)
    accounts[account] = AccountRow(
      revision: try result.number(row, column + 1),
      mergedInto: try result.optionalIdentifier(row, column + 2),
      isDeleted: try result.flag(row, column + 3), claims: Int(try result.number(row, column + 4)),
      claimsSince: try result.optionalNumber(row, column + 5).map { Milliseconds($0) })
    note([.account(account)])
  }
}
