import EntitlementDomain
import EntitlementStore
import GRDB

// Who owns what (R41–R45). One writer runs at a time, so decisions are serialised for every chain.
//
// Where it can be, the outcome does not depend on the order of arrival: an unlinked chain is
// decided on again from the hints of all its standing facts whenever one of them may lead
// somewhere new, because a fact of it came, or because what the hint names got its account.
//
// - An `appAccountToken` becomes known for the account that a submission names together with a
//   fact that carries it. The first account stands (R43).
// - An `appTransactionId` is linked to the account of the first chain that carries it, or to the
//   account named with the app transaction itself, which later names claim like a chain (R44).
// - Hints never move what is linked.
extension SubmissionWriter {
  mutating func link(_ facts: [Fact], merges: [FactMerge], named: AccountID?) throws {
    if let named {
      for fact in facts { try learnToken(of: fact, named: named) }
    }
    for fact in facts {
      if case .appTransaction(let fact) = fact {
        try settleAppTransaction(fact, named: named)
      }
    }
    for (fact, merge) in zip(facts, merges) {
      guard let chain = merge.chainRowID else { continue }
      try settle(chain, named: named)
      // A later fact of a linked chain may be the first to carry this.
      if let appTransaction = FactHints(fact).appTransactionID, merge.isNew {
        try follow(chain, with: appTransaction, isNamed: named != nil)
      }
    }
    while let chain = chainsToSettle.popLast() {
      try settle(chain, named: nil)
    }
  }

  func linkedAccount(_ rowID: Int64) throws -> AccountRow {
    guard let account = try database.account(rowID: rowID) else {
      throw StoreError(.corrupt, "a link names an account that is not stored")
    }
    return account
  }

  // MARK: Chains

  private mutating func settle(_ chainRowID: Int64, named: AccountID?) throws {
    try concern(chainRowID)
    guard let chain = concerns.chains[chainRowID]?.row else { return }
    // Hints never move a linked chain (R43): only then are they worth reading.
    let hints = chain.account == nil ? try hints(of: chain) : ChainHints()
    let existing = try chain.account.map { try linkedAccount($0) }
    let byToken = try firstAccount(hints.tokens) {
      try database.row(.findToken, [chain.scopeID, $0.stored])?[0]
    }
    let byAppTransaction = try firstAccount(hints.appTransactions) {
      try database.linkedAccount(
        of: AppTransactionKey(scopeID: chain.scopeID, identity: $0))
    }
    let byPreviousChain = try firstAccount(hints.previousChains) {
      try database.chain($0, scopeID: chain.scopeID)?.account
    }
    let decision = LinkDecision.decide(
      existing: existing?.accountID, named: named, byToken: byToken?.accountID,
      byAppTransaction: byAppTransaction?.accountID, byPreviousChain: byPreviousChain?.accountID)
    guard let accountID = decision.accountID, let reason = decision.reason else { return }
    let account = try internedAccount(accountID, scopeID: chain.scopeID)
    try link(chain, to: account, reason: reason)
    if existing == nil {
      try queueUnlinkedChains(
        .unlinkedChainsByPreviousChain, chain.originalTransactionID, scopeID: chain.scopeID)
      for appTransaction in hints.appTransactions {
        try follow(chainRowID, with: appTransaction, isNamed: named != nil)
      }
    }
  }

  private mutating func link(_ chain: ChainRow, to account: Int64, reason: LinkReason) throws {
    try database.run(.linkChain, [account, chain.id])
    try database.run(
      .insertLinkEvent,
      [
        chain.id, chain.scopeID, nil, chain.account, account, reason.rawValue,
        receivedAt.rawValue,
      ])
    concerns.chains[chain.id]?.row.account = account
  }

  /// What the standing facts of a chain carry, newest first, each once.
  private struct ChainHints {
    var tokens: [AppAccountToken] = []
    var appTransactions: [AppTransactionID] = []
    var previousChains: [OriginalTransactionID] = []
  }

  private func hints(of chain: ChainRow) throws -> ChainHints {
    var hints = ChainHints()
    func add<Kind>(_ hint: Identifier<Kind>?, to list: inout [Identifier<Kind>]) {
      if let hint, !list.contains(hint) { list.append(hint) }
    }
    try database.forEachRow(.hintsOfChain, [chain.id]) { row in
      add(row.identifier(0), to: &hints.tokens)
      add(row.identifier(1), to: &hints.appTransactions)
      add(row.identifier(2), to: &hints.previousChains)
    }
    return hints
  }

  private func firstAccount<Kind>(
    _ hints: [Identifier<Kind>], find: (Identifier<Kind>) throws -> Int64?
  ) throws -> AccountRow? {
    for hint in hints {
      if let account = try find(hint) { return try linkedAccount(account) }
    }
    return nil
  }

  private mutating func queueUnlinkedChains<Kind>(
    _ statement: StoreStatement, _ hint: Identifier<Kind>, scopeID: Int64
  ) throws {
    for row in try database.rows(statement, [scopeID, hint.stored]) {
      chainsToSettle.append(row[0])
    }
  }

  // MARK: App transactions

  private mutating func settleAppTransaction(_ fact: AppTransactionFact, named: AccountID?) throws {
    let key = AppTransactionKey(
      scopeID: try database.internedScopeID(fact.scope), identity: fact.identity)
    try concern(key)
    let existing = try concerns.appTransactions[key]?.account.map { try linkedAccount($0) }
    let decision = LinkDecision.decide(
      existing: existing?.accountID, named: named, byToken: nil, byAppTransaction: nil,
      byPreviousChain: nil)
    guard let accountID = decision.accountID, let reason = decision.reason else { return }
    let account = try internedAccount(accountID, scopeID: key.scopeID)
    try link(key, from: existing?.id, to: account, reason: reason)
  }

  /// Links an app transaction id to the account of a chain that carries it, if it has none yet.
  private mutating func follow(
    _ chainRowID: Int64, with appTransaction: AppTransactionID, isNamed: Bool
  ) throws {
    guard let chain = concerns.chains[chainRowID]?.row, let account = chain.account else { return }
    let key = AppTransactionKey(scopeID: chain.scopeID, identity: appTransaction)
    guard try database.linkedAccount(of: key) == nil else { return }
    try concern(key)
    try link(key, from: nil, to: account, reason: isNamed ? .named : .appTransaction)
  }

  private mutating func link(
    _ key: AppTransactionKey, from former: Int64?, to account: Int64, reason: LinkReason
  ) throws {
    try database.run(.linkAppTransaction, [key.scopeID, key.identity.stored, account])
    try database.run(
      .insertLinkEvent,
      [
        nil, key.scopeID, key.identity.stored, former, account, reason.rawValue,
        receivedAt.rawValue,
      ])
    concerns.appTransactions[key]?.account = account
    try queueUnlinkedChains(
      .unlinkedChainsByAppTransaction, key.identity, scopeID: key.scopeID)
  }

  // MARK: Accounts and tokens

  private mutating func learnToken(of fact: Fact, named: AccountID) throws {
    guard let token = FactHints(fact).appAccountToken else { return }
    let scopeID = try database.internedScopeID(fact.scope)
    guard try database.row(.findToken, [scopeID, token.stored]) == nil else { return }
    let account = try internedAccount(named, scopeID: scopeID)
    try database.run(.insertToken, [scopeID, token.stored, account])
    try queueUnlinkedChains(.unlinkedChainsByToken, token, scopeID: scopeID)
  }

  private func internedAccount(_ id: AccountID, scopeID: Int64) throws -> Int64 {
    if let account = try database.account(id, scopeID: scopeID) { return account.id }
    try database.run(.insertAccount, [scopeID, id.stored, receivedAt.rawValue])
    return database.lastInsertedRowID
  }
}

extension Database {
  /// The row of the account that an app transaction id is linked to.
  func linkedAccount(of appTransaction: AppTransactionKey) throws -> Int64? {
    try row(.findAppTransaction, [appTransaction.scopeID, appTransaction.identity.stored])?[0]
  }
}
