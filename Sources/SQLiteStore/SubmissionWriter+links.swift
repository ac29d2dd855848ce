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
// - A claim that is refused leaves its facts as if the submission had named nobody: it teaches
//   nothing about the claimer (R44).
// - What nobody signed hints at nobody, and takes nothing from an account whatever the policy. An
//   account that is named with it gets what has none; but that link leads nothing further to it,
//   neither by a later chain of the purchase nor by an app transaction id, until the account comes
//   with something signed of the same.
extension SubmissionWriter {
  mutating func link(_ merges: [FactMerge], named: AccountID?) throws {
    let claim = Claim(named: named, merges: merges)
    // Chains come before app transactions: what a fact of a chain says about whose an app
    // transaction is counts also when the chain is claimed in vain.
    for merge in merges {
      guard let chain = merge.chainRowID else { continue }
      try settle(chain, by: claim)
      // A later fact of a linked chain may be the first to carry this.
      if let appTransaction = FactHints(merge.fact).appTransactionID, merge.isNew,
        merge.fact.authority.isSigned
      {
        try follow(chain, with: appTransaction, isNamed: named != nil)
      }
    }
    // An archived response is of one customer: where a purchase in it is another account's, it does
    // not say whose the app is either.
    let isImportVain = merges.contains {
      !$0.fact.authority.isSigned && concerns.isClaimRefused($0)
    }
    for merge in merges {
      guard let appTransaction = merge.appTransaction else { continue }
      try concern(appTransaction)
      let hasAccount = concerns.appTransactions[appTransaction]?.account != nil
      if isImportVain, !merge.fact.authority.isSigned, !hasAccount { continue }
      try settle(appTransaction, by: claim)
    }
    if let named {
      for merge in merges where !concerns.isClaimRefused(merge) {
        try learnToken(of: merge.fact, named: named)
      }
    }
    while let chain = chainsToSettle.popLast() {
      try settle(chain, by: nil)
    }
  }

  /// The account that the submission names, and what it names it with.
  private struct Claim {
    let account: AccountID
    private var signedChains: Set<Int64> = []
    private var signedAppTransactions: Set<AppTransactionKey> = []

    /// - Returns: nil when it names none.
    init?(named: AccountID?, merges: [FactMerge]) {
      guard let named else { return nil }
      account = named
      for merge in merges where merge.fact.authority.isSigned {
        if let chain = merge.chainRowID { signedChains.insert(chain) }
        if let key = merge.appTransaction { signedAppTransactions.insert(key) }
      }
    }

    func isUnsigned(for chain: Int64) -> Bool { !signedChains.contains(chain) }
    func isUnsigned(for key: AppTransactionKey) -> Bool { !signedAppTransactions.contains(key) }
  }

  // MARK: Chains

  private mutating func settle(_ chainRowID: Int64, by claim: Claim?) throws {
    try concern(chainRowID)
    // A second fact of a chain does not ask again.
    guard let known = concerns.chains[chainRowID], !known.isClaimRefused else { return }
    let chain = known.row
    // Hints never move a linked chain (R43): they are worth reading where one may find the account,
    // or where a link that was imported may come to lead on.
    let hints =
      chain.account == nil || chain.isLinkUnsigned ? try hints(of: chain) : ChainHints()
    let existing = try chain.account.map { try database.linkedAccount($0) }
    let byToken = try firstAccount(hints.tokens) {
      try database.row(.findToken, [chain.scopeID, $0.stored])?[0]
    }
    let byAppTransaction = try firstAccount(hints.appTransactions) {
      let link = try database.link(
        of: AppTransactionKey(scopeID: chain.scopeID, identity: $0))
      return link.flatMap { $0.isUnsigned ? nil : $0.account }
    }
    let byPreviousChain = try firstAccount(hints.previousChains) {
      let previous = try database.chain($0, scopeID: chain.scopeID)
      return previous.flatMap { $0.isLinkUnsigned ? nil : $0.account }
    }
    let scope = try scope(chain.scopeID)
    let decision = try LinkDecision.decide(
      existing: existing?.accountID, named: claim?.account, byToken: byToken?.accountID,
      byAppTransaction: byAppTransaction?.accountID, byPreviousChain: byPreviousChain?.accountID,
      isNamedUnsigned: claim?.isUnsigned(for: chainRowID) ?? false,
      policy: submission.catalog.linkPolicy(in: scope),
      confersNow: { try isInForce(.factsOfChain, [chainRowID], in: scope) })
    concerns.chains[chainRowID]?.isClaimRefused = decision.isClaimRefused
    if let accountID = decision.accountID, let reason = decision.reason {
      let account = try database.internedAccount(accountID, scopeID: chain.scopeID, at: receivedAt)
      try link(chain, to: account, reason: reason)
    } else if chain.isLinkUnsigned, let claim, claim.account == decision.accountID,
      !claim.isUnsigned(for: chainRowID)
    {
      try confirmLink(of: chain)
    } else {
      return
    }
    if existing == nil || chain.isLinkUnsigned {
      try lead(chain, with: hints, isNamed: claim != nil)
    }
  }

  /// Leads to a chain's account what the chain's link speaks for: nothing where it was imported.
  private mutating func lead(_ chain: ChainRow, with hints: ChainHints, isNamed: Bool) throws {
    try queueUnlinkedChains(
      .unlinkedChainsByPreviousChain, chain.originalTransactionID, scopeID: chain.scopeID)
    for appTransaction in hints.appTransactions {
      try follow(chain.id, with: appTransaction, isNamed: isNamed)
    }
  }

  private mutating func link(_ chain: ChainRow, to account: Int64, reason: LinkReason) throws {
    let isUnsigned = reason == .imported
    try database.run(.linkChain, [account, isUnsigned, chain.id])
    try database.run(
      .insertLinkEvent,
      [
        chain.id, chain.scopeID, nil, chain.account, account, reason.rawValue,
        receivedAt.rawValue,
      ])
    concerns.chains[chain.id]?.row.account = account
    concerns.chains[chain.id]?.row.isLinkUnsigned = isUnsigned
  }

  /// The account has come with something signed: the link counts as if that had made it.
  private mutating func confirmLink(of chain: ChainRow) throws {
    try database.run(.linkChain, [chain.account, false, chain.id])
    concerns.chains[chain.id]?.row.isLinkUnsigned = false
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
      if let account = try find(hint) { return try database.linkedAccount(account) }
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

  /// Whether what such facts say is in force at the moment of the submission. A product that the
  /// catalog does not name confers nothing (R14), and is paid for all the same: a catalog that lags
  /// behind the App Store must give nobody's purchase away.
  private func isInForce(
    _ statement: StoreStatement, _ arguments: StatementArguments, in scope: AppScope
  ) throws -> Bool {
    let record = CustomerRecord(
      scope: scope, facts: try database.facts(statement, arguments, in: scope))
    let state = Evaluation.state(of: record, catalog: submission.catalog, at: receivedAt)
    return state.coreState == .active
      || state.products.contains { $0.standing.coreState == .active }
  }

  // MARK: App transactions

  private mutating func settle(_ key: AppTransactionKey, by claim: Claim?) throws {
    try concern(key)
    guard let known = concerns.appTransactions[key], !known.isClaimRefused else { return }
    let existing = try known.account.map { try database.linkedAccount($0) }
    let scope = try scope(key.scopeID)
    let decision = try LinkDecision.decide(
      existing: existing?.accountID, named: claim?.account, byToken: nil, byAppTransaction: nil,
      byPreviousChain: nil, isNamedUnsigned: claim?.isUnsigned(for: key) ?? false,
      policy: submission.catalog.linkPolicy(in: scope),
      confersNow: {
        let fact = FactKey(kind: .appTransaction, identifier: key.identity.rawValue)
        return try isInForce(.factByKey, fact.arguments(scopeID: key.scopeID), in: scope)
      })
    concerns.appTransactions[key]?.isClaimRefused = decision.isClaimRefused
    if let accountID = decision.accountID, let reason = decision.reason {
      let account = try database.internedAccount(accountID, scopeID: key.scopeID, at: receivedAt)
      try link(key, from: existing?.id, to: account, reason: reason)
    } else if known.isLinkUnsigned, let existing, let claim, claim.account == existing.accountID,
      !claim.isUnsigned(for: key)
    {
      try setLink(of: key, to: existing.id, isUnsigned: false)
    }
  }

  /// Links an app transaction id to the account of a chain that carries it, if it has none yet.
  private mutating func follow(
    _ chainRowID: Int64, with appTransaction: AppTransactionID, isNamed: Bool
  ) throws {
    guard let chain = concerns.chains[chainRowID], let account = chain.row.account,
      !chain.row.isLinkUnsigned
    else { return }
    let key = AppTransactionKey(scopeID: chain.row.scopeID, identity: appTransaction)
    guard try database.link(of: key) == nil else { return }
    try concern(key)
    let isNamed = isNamed && !chain.isClaimRefused
    try link(key, from: nil, to: account, reason: isNamed ? .named : .appTransaction)
  }

  private mutating func link(
    _ key: AppTransactionKey, from former: Int64?, to account: Int64, reason: LinkReason
  ) throws {
    try database.run(
      .insertLinkEvent,
      [
        nil, key.scopeID, key.identity.stored, former, account, reason.rawValue,
        receivedAt.rawValue,
      ])
    try setLink(of: key, to: account, isUnsigned: reason == .imported)
  }

  private mutating func setLink(
    of key: AppTransactionKey, to account: Int64, isUnsigned: Bool
  ) throws {
    try database.run(
      .linkAppTransaction, [key.scopeID, key.identity.stored, account, isUnsigned])
    concerns.appTransactions[key]?.account = account
    concerns.appTransactions[key]?.isLinkUnsigned = isUnsigned
    if isUnsigned { return }
    try queueUnlinkedChains(
      .unlinkedChainsByAppTransaction, key.identity, scopeID: key.scopeID)
  }

  // MARK: Accounts and tokens

  private mutating func learnToken(of fact: Fact, named: AccountID) throws {
    guard let token = FactHints(fact).appAccountToken else { return }
    let scopeID = try database.internedScopeID(fact.scope)
    guard try database.row(.findToken, [scopeID, token.stored]) == nil else { return }
    let account = try database.internedAccount(named, scopeID: scopeID, at: receivedAt)
    try database.run(.insertToken, [scopeID, token.stored, account])
    try queueUnlinkedChains(.unlinkedChainsByToken, token, scopeID: scopeID)
  }
}
