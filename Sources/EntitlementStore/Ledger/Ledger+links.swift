import EntitlementDomain

// Links (R41–R45). A store serialises the writes that read or change the same row.
//
// The outcome depends on the order of arrival as little as possible. An unlinked chain is decided
// again from the hints of all its standing facts when a new fact of it arrives, and when the target
// of one of its hints gets an account.
//
// - An `appAccountToken` is registered for the account that a submission names with a fact that
//   carries the token. The first account stands (R43).
// - An `appTransactionId` is linked to the account of the first chain that carries it, or to the
//   account that is named with the app transaction itself. Later submissions claim it like a chain
//   (R44).
// - Hints never move a link, and never link a target that an operator unlinked.
// - A refused claim leaves its facts as if the submission named no account. Neither tokens nor app
//   transaction ids are registered for the claiming account (R44).
// - Unsigned facts have no hints and take nothing from an account, whatever the policy. The account
//   that is named with them gets unlinked targets, as an operator states the account and a
//   signature would not prove it either. Such an unsigned link is not propagated, neither to a
//   later chain of the purchase nor by an app transaction id, until the account submits a signed
//   fact of the same target.
extension Ledger {
  mutating func link(_ merges: [FactMerge], by claim: SubmissionClaim?) throws {
    // Chains precede app transactions. The link of a chain also decides the account of its app
    // transaction when the claim of the chain is refused.
    try forEach(merges) { ledger, merge in
      guard case .chain = merge.target.target else { return }
      try ledger.settleOnce(merge.target, by: claim)
      // A later fact of a linked chain may be the first one with an app transaction id.
      if let appTransaction = FactHints(merge.fact).appTransactionID, merge.isNew,
        merge.fact.authority.isSigned
      {
        try ledger.linkAppTransaction(
          appTransaction, of: merge.target, isNamed: claim != nil)
      }
    }
    // An archived response belongs to one customer. When one of its purchases belongs to another
    // account, it does not decide the account of the app transaction either.
    let isImportRefused = merges.contains {
      !$0.fact.authority.isSigned && affected[$0.target]?.refusal != nil
    }
    try forEach(merges) { ledger, merge in
      guard case .appTransaction = merge.target.target else { return }
      let hasAccount = try ledger.view.link(of: merge.target)?.account != nil
      if isImportRefused, !merge.fact.authority.isSigned, !hasAccount { return }
      try ledger.settleOnce(merge.target, by: claim)
    }
    if let claim {
      try forEach(merges) { ledger, merge in
        // The claim was decided for the target of the standing version, which may be another chain
        // now (R7).
        let fact = merge.fact
        guard let standing = try ledger.view.standingFact(ScopedFact(fact.scope, fact.key)),
          standing.target == fact.target,
          ledger.affected[ScopedTarget(fact.scope, fact.target)]?.refusal == nil
        else { return }
        try ledger.registerToken(of: fact, by: claim)
      }
    }
    try settleQueuedChains()
  }

  // MARK: Decisions

  /// Decides once for all facts of a target in the submission. Later changes reach it by
  /// propagation.
  private mutating func settleOnce(_ target: ScopedTarget, by claim: SubmissionClaim?) throws {
    if affected[target]?.isSettled == true { return }
    affected[target]?.isSettled = true
    try settle(target, by: claim)
  }

  /// Decides on the account of a target.
  ///
  /// - Parameter known: the hints of its facts; nil: read them.
  mutating func settle(
    _ target: ScopedTarget, by claim: SubmissionClaim?, hints known: ChainHints? = nil
  ) throws {
    let row = try view.link(of: target) ?? LinkRow()
    // Hints never move a linked chain (R43). They are read only for an unlinked chain, and for an
    // unsigned link that may become a signed one and be propagated.
    let hints =
      row.account == nil || row.isUnsigned ? try known ?? self.hints(of: target) : ChainHints()
    let decision = try decide(target, row, by: claim, hints)
    if let refusal = decision.refusal {
      affected[target]?.refusal = refusal
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
      try propagateLink(of: target, with: hints, isNamed: claim != nil)
    }
  }

  private func decide(
    _ target: ScopedTarget, _ row: LinkRow, by claim: SubmissionClaim?, _ hints: ChainHints
  ) throws -> LinkDecision {
    let scope = target.scope
    let named = claim?.account(in: scope)
    let usesHints = row.account == nil && named == nil && !row.isDetached
    let hinted = usesHints ? try accounts(hintedBy: hints, in: scope) : HintedAccounts()
    return try LinkDecision.decide(
      existing: row.account, named: named, byToken: hinted.byToken,
      byAppTransaction: hinted.byAppTransaction, byPreviousChain: hinted.byPreviousChain,
      isNamedUnsigned: claim?.isUnsigned(for: target) ?? false,
      policy: context.catalog.linkPolicy(in: scope),
      isMerge: { try isMerge(of: row.account, by: claim, in: scope) },
      isWithinLimit: { try isWithinLimit(named, in: scope) },
      confersNow: { try isInForce(target, of: row.account) })
  }

  private struct HintedAccounts {
    var byToken: AccountID?
    var byAppTransaction: AccountID?
    var byPreviousChain: AccountID?
  }

  /// The account of the first hint of each kind that has one.
  private func accounts(hintedBy hints: ChainHints, in scope: AppScope) throws -> HintedAccounts {
    try view.reader.willRead(hints.keys(in: scope))
    return HintedAccounts(
      byToken: try hints.tokens.firstAccount { try view.account(of: ScopedToken(scope, $0)) },
      byAppTransaction: try hints.appTransactions.firstAccount {
        try signedAccount(of: ScopedTarget(scope, .appTransaction($0)))
      },
      byPreviousChain: try hints.previousChains.firstAccount {
        try signedAccount(of: ScopedTarget(scope, .chain($0)))
      })
  }

  /// The account of a link; nil for an unsigned one, which is not propagated.
  private func signedAccount(of target: ScopedTarget) throws -> AccountID? {
    guard let link = try view.link(of: target), !link.isUnsigned else { return nil }
    return link.account
  }

  private func hints(of target: ScopedTarget) throws -> ChainHints {
    guard case .chain(let chain) = target.target else { return ChainHints() }
    return try view.hints(of: chain, in: target.scope)
  }

  // MARK: Changes

  /// - Parameter row: the row before the change.
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

  /// Links a target to an account, whether it has another one or none.
  mutating func setAccount(
    _ account: ScopedAccount, of target: ScopedTarget, reason: LinkReason
  ) throws {
    try ensureAccount(account)
    try moveLink(of: target, to: account.id, reason: reason)
    if case .appTransaction = target.target, reason != .imported {
      try queueChains(hintedBy: target)
    }
  }

  /// Changes the account of a link and appends the event to its history.
  mutating func moveLink(
    of target: ScopedTarget, to account: AccountID?, reason: LinkReason,
    _ change: (inout LinkRow) -> Void = { _ in }
  ) throws {
    try noteAffected(target)
    let former = try view.link(of: target)?.account
    view.append(
      LinkEventWrite(
        target: target,
        event: LinkEvent(
          from: reason == .deleted ? nil : former, to: account, isFromErased: reason == .deleted,
          reason: reason, author: context.author, note: context.note, at: context.at)))
    try view.updateLink(of: target, at: context.at) { row in
      row.account = account
      row.isDetached = false
      if reason != .merged { row.isUnsigned = reason == .imported }
      change(&row)
    }
  }

  /// Makes an unsigned link a signed one, after the account submitted a signed fact of the target.
  private mutating func confirmLink(of target: ScopedTarget) throws {
    try view.updateLink(of: target, at: context.at) { $0.isUnsigned = false }
    if case .appTransaction = target.target { try queueChains(hintedBy: target) }
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
