import EntitlementDomain

// Who owns what (R41–R45). A store serialises the writes that read or change the same row.
//
// Where it can be, the outcome does not depend on the order of arrival: an unlinked chain is
// decided on again from the hints of all its standing facts whenever one of them may lead
// somewhere new, because a fact of it came, or because what the hint names got its account.
//
// - An `appAccountToken` becomes known for the account that a submission names together with a
//   fact that carries it. The first account stands (R43).
// - An `appTransactionId` is linked to the account of the first chain that carries it, or to the
//   account named with the app transaction itself, which later names claim like a chain (R44).
// - Hints never move what is linked, and lead nothing to an account that an operator took from one.
// - A claim that is refused leaves its facts as if the submission had named nobody: it teaches
//   nothing about the claimer (R44).
// - What nobody signed hints at nobody, and takes nothing from an account whatever the policy. An
//   account that is named with it gets what has none, and owns it as any other: an operator says so,
//   and a signature proves no claimer. But that link leads nothing further to it, neither by a later
//   chain of the purchase nor by an app transaction id, until the account comes with something signed
//   of the same.
extension Ledger {
  mutating func link(_ merges: [FactMerge], by claim: SubmissionClaim?) throws {
    // Chains come before app transactions: what a fact of a chain says about whose an app
    // transaction is counts also when the chain is claimed in vain.
    try forEach(merges) { ledger, merge in
      guard case .chain = merge.target.target else { return }
      try ledger.settleOnce(merge.target, by: claim)
      // A later fact of a linked chain may be the first to carry this.
      if let appTransaction = FactHints(merge.fact).appTransactionID, merge.isNew,
        merge.fact.authority.isSigned
      {
        try ledger.follow(merge.target, with: appTransaction, isNamed: claim != nil)
      }
    }
    // An archived response is of one customer: where a purchase in it is another account's, it does
    // not say whose the app is either.
    let isImportVain = merges.contains {
      !$0.fact.authority.isSigned && concerns[$0.target]?.refusal != nil
    }
    try forEach(merges) { ledger, merge in
      guard case .appTransaction = merge.target.target else { return }
      let hasAccount = try ledger.view.link(of: merge.target)?.account != nil
      if isImportVain, !merge.fact.authority.isSigned, !hasAccount { return }
      try ledger.settleOnce(merge.target, by: claim)
    }
    if let claim {
      try forEach(merges) { ledger, merge in
        // A version whose transaction speaks of another chain by now (R7), by whichever fact of this
        // submission, was not what was judged.
        let fact = merge.fact
        guard let standing = try ledger.view.standingFact(ScopedFact(fact.scope, fact.key)),
          standing.target == fact.target,
          ledger.concerns[ScopedTarget(fact.scope, fact.target)]?.refusal == nil
        else { return }
        try ledger.learnToken(of: fact, by: claim)
      }
    }
    try settleLedChains()
  }

  // MARK: Deciding

  /// A second fact of the same does not ask again: what is taught after the first leads on to it.
  private mutating func settleOnce(_ target: ScopedTarget, by claim: SubmissionClaim?) throws {
    if concerns[target]?.isSettled == true { return }
    concerns[target]?.isSettled = true
    try settle(target, by: claim)
  }

  /// Decides on the account of a target.
  ///
  /// - Parameter known: the hints of its facts, where they have been read.
  mutating func settle(
    _ target: ScopedTarget, by claim: SubmissionClaim?, hints known: ChainHints? = nil
  ) throws {
    let row = try view.link(of: target) ?? LinkRow()
    // Hints never move a linked chain (R43): they are worth reading where one may find the account,
    // or where a link that was imported may come to lead on.
    let hints =
      row.account == nil || row.isUnsigned ? try known ?? self.hints(of: target) : ChainHints()
    let decision = try decide(target, row, by: claim, hints)
    if let refusal = decision.refusal {
      concerns[target]?.refusal = refusal
      return
    }
    if let account = decision.accountID, let reason = decision.reason {
      try carryOut(reason, on: target, of: row, for: account)
    } else if row.isUnsigned, let claim, claim.account(in: target.scope) == decision.accountID,
      !claim.isUnsigned(for: target)
    {
      try confirmLink(of: target)
    } else {
      return
    }
    if row.account == nil || row.isUnsigned {
      try leadOn(target, with: hints, isNamed: claim != nil)
    }
  }

  private func decide(
    _ target: ScopedTarget, _ row: LinkRow, by claim: SubmissionClaim?, _ hints: ChainHints
  ) throws -> LinkDecision {
    let scope = target.scope
    let named = claim?.account(in: scope)
    let isLed = row.account == nil && named == nil && !row.isDetached
    let hinted = isLed ? try accounts(hintedBy: hints, in: scope) : HintedAccounts()
    return try LinkDecision.decide(
      existing: row.account, named: named, byToken: hinted.byToken,
      byAppTransaction: hinted.byAppTransaction, byPreviousChain: hinted.byPreviousChain,
      isNamedUnsigned: claim?.isUnsigned(for: target) ?? false,
      policy: occasion.catalog.linkPolicy(in: scope),
      isMerge: { try isMerge(of: row.account, by: claim, in: scope) },
      isWithinLimit: { try isWithinLimit(named, in: scope) },
      confersNow: { try isInForce(target, of: row.account) })
  }

  private struct HintedAccounts {
    var byToken: AccountID?
    var byAppTransaction: AccountID?
    var byPreviousChain: AccountID?
  }

  /// Whose the first hint of each kind is that somebody has.
  private func accounts(hintedBy hints: ChainHints, in scope: AppScope) throws -> HintedAccounts {
    try view.reader.willRead(hints.keys(in: scope))
    return HintedAccounts(
      byToken: try hints.tokens.firstAccount { try view.account(of: ScopedToken(scope, $0)) },
      byAppTransaction: try hints.appTransactions.firstAccount {
        try leadingAccount(of: ScopedTarget(scope, .appTransaction($0)))
      },
      byPreviousChain: try hints.previousChains.firstAccount {
        try leadingAccount(of: ScopedTarget(scope, .chain($0)))
      })
  }

  /// The account of a link that speaks for others.
  private func leadingAccount(of target: ScopedTarget) throws -> AccountID? {
    guard let link = try view.link(of: target), !link.isUnsigned else { return nil }
    return link.account
  }

  private func hints(of target: ScopedTarget) throws -> ChainHints {
    guard case .chain(let chain) = target.target else { return ChainHints() }
    return try view.hints(of: chain, in: target.scope)
  }

  // MARK: Linking

  /// - Parameter row: as it stood before.
  private mutating func carryOut(
    _ reason: LinkReason, on target: ScopedTarget, of row: LinkRow, for account: AccountID
  ) throws {
    let account = ScopedAccount(target.scope, account)
    switch (reason, row.account) {
    case (.merged, let former?):
      try merge(ScopedAccount(target.scope, former), into: account)
      if row.isUnsigned { try confirmLink(of: target) }
    default:
      try setAccount(account, of: target, reason: reason)
    }
    if reason == .merged || reason == .claimed { try countClaim(of: account) }
  }

  /// Gives it to an account, whoever has it.
  mutating func setAccount(
    _ account: ScopedAccount, of target: ScopedTarget, reason: LinkReason
  ) throws {
    try keepAccount(account)
    try moveLink(of: target, to: account.id, reason: reason)
    if case .appTransaction = target.target, reason != .imported {
      try queueChains(ledBy: target)
    }
  }

  /// Changes the account of a link, and tells why in its history.
  mutating func moveLink(
    of target: ScopedTarget, to account: AccountID?, reason: LinkReason,
    _ change: (inout LinkRow) -> Void = { _ in }
  ) throws {
    try concern(target)
    let former = try view.link(of: target)?.account
    view.append(
      LinkEventWrite(
        target: target,
        event: LinkEvent(
          from: reason == .deleted ? nil : former, to: account, isFromErased: reason == .deleted,
          reason: reason, author: occasion.author, note: occasion.note, at: occasion.at)))
    try view.updateLink(of: target, at: occasion.at) { row in
      row.account = account
      row.isDetached = false
      if reason != .merged { row.isUnsigned = reason == .imported }
      change(&row)
    }
  }

  /// The account has come with something signed: the link counts as if that had made it.
  private mutating func confirmLink(of target: ScopedTarget) throws {
    try view.updateLink(of: target, at: occasion.at) { $0.isUnsigned = false }
    if case .appTransaction = target.target { try queueChains(ledBy: target) }
  }
}

extension Array {
  fileprivate func firstAccount(_ find: (Element) throws -> AccountID?) rethrows -> AccountID? {
    for element in self {
      if let account = try find(element) { return account }
    }
    return nil
  }
}
