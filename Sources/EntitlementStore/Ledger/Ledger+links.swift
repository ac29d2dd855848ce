import EntitlementDomain

// Links (R41–R45). A store serialises the writes that read or change the same row.
//
// The outcome depends on the order of arrival as little as possible. An unlinked chain is decided
// again from the hints of all its standing facts when a new fact of it arrives, and when the target
// of one of its hints gets an account.
//
// - An `appAccountToken` is learned for the account that a submission names with a fact that carries
//   the token. A token that is presented for two accounts is ambiguous and links nothing (R71).
// - An `appTransactionId` is linked to the account of the first chain that carries it, or to the
//   account that is named with the app transaction itself. Later submissions claim it like a chain
//   (R44). Presented for two accounts, it keeps its account and is ambiguous as a hint (R71).
// - Hints never move a link, and never link a target that an operator unlinked. A link that rests on
//   a learned hint yields to the first name (R72).
// - A refused claim leaves its facts as if the submission named no account. It teaches nothing
//   (R44), but it can make a hint ambiguous.
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
      try forEach(merges) { ledger, merge in try ledger.present(merge.fact, by: claim) }
      try forEach(Set(merges.map(\.target.scope))) { ledger, scope in
        try ledger.bindDerivedToken(of: ScopedAccount(scope, claim.named))
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
    let (decision, standing) = try decide(target, row, by: claim, hints)
    if let refusal = decision.refusal { affected[target]?.refusal = refusal }
    if let account = decision.accountID, let reason = decision.reason {
      let account = ScopedAccount(target.scope, account)
      try setAccount(account, of: target, reason: reason, standing: standing)
      if decision.isReturn {
        affected[target]?.isReturn = true
      } else if decision.isClaimGranted {
        try countClaim(of: account)
      }
    } else if decision.refusal != nil {
      if decision.isSettled {
        try view.updateLink(of: target, at: context.at) { $0.standing = standing }
      }
    } else if let claim, claim.account(in: target.scope) == decision.accountID,
      !claim.isUnsigned(for: target), row.isUnsigned || row.standing == .hinted
    {
      try confirmLink(of: target)
    } else {
      return
    }
    if case .accountFull(let account) = decision.refusal {
      noteFull(ScopedAccount(target.scope, account), for: target)
    }
    if row.account != nil, decision.refusal != nil, let claim {
      try noteRefusal(of: target, by: claim)
    }
    if row.account != nil, decision.refusal != nil || decision.isClaimGranted, let claim {
      try noteClaim(of: target, row, by: claim)
    }
    if decision.isSettled { noteDispute(of: target, decision.accountID) }
    if decision.refusal == nil, row.account == nil || row.isUnsigned {
      try propagateLink(of: target, with: hints, isNamed: claim != nil)
    }
  }

  /// A signed claim shows a target and its hints for a second account, also when it is refused
  /// (R70). That of an import does not (R90).
  ///
  /// - Parameter row: the row before the claim.
  private mutating func noteClaim(
    of target: ScopedTarget, _ row: LinkRow, by claim: SubmissionClaim
  ) throws {
    if claim.isUnsigned(for: target) || context.takesNothing { return }
    let isGranted = affected[target]?.refusal == nil
    // What was linked without a signed submission was not presented before. A refused claim does not
    // contest what was decided by name.
    let wasPresented = row.standing != .hinted && !row.isUnsigned
    if isGranted ? wasPresented : row.standing == .named { try contest(target) }
    guard case .chain = target.target else { return }
    let hints = try self.hints(of: target)
    try present(
      tokens: hints.tokens, appTransactions: hints.appTransactions, of: target,
      for: ScopedAccount(target.scope, claim.account(in: target.scope)))
  }

  private func decide(
    _ target: ScopedTarget, _ row: LinkRow, by claim: SubmissionClaim?, _ hints: ChainHints
  ) throws -> (LinkDecision, LinkStanding) {
    let scope = target.scope
    let named = claim?.account(in: scope)
    let usesHints = row.account == nil && named == nil && !row.isDetached
    let hinted = usesHints ? try accounts(hintedBy: hints, in: scope) : HintedAccounts()
    let decision = try LinkDecision.decide(
      existing: row.account, named: named, byToken: hinted.byToken?.id,
      byAppTransaction: hinted.byAppTransaction?.id, byPreviousChain: hinted.byPreviousChain?.id,
      standing: row.standing, isFixed: row.standing == .decided && target.unlinkedSubject == nil,
      isNamedUnsigned: claim?.isUnsigned(for: target) ?? false, mayTake: !context.takesNothing,
      policy: context.catalog.linkPolicy(in: scope),
      course: { try course(of: target, row, claimedBy: named) },
      isWithinLimit: { try isWithinLimit(named, in: scope) },
      hasRoom: { try hasRoom(ScopedAccount(scope, $0), for: target) },
      confersNow: { try isInForce(target, of: row.account) })
    let hint: HintedAccount? =
      switch decision.reason {
      case .appAccountToken: hinted.byToken
      case .appTransaction: hinted.byAppTransaction
      case .previousChain: hinted.byPreviousChain
      default: nil
      }
    let wasPresented = row.standing != .hinted && !row.isUnsigned
    let standing: LinkStanding =
      switch decision.reason {
      // A claim that contests the target says so below.
      case .claimed where wasPresented: row.standing
      case _ where decision.isSettled: .disputed
      default: hint?.isDecided == false ? .hinted : .named
      }
    return (decision, standing)
  }

  /// An account that a hint finds.
  struct HintedAccount {
    let id: AccountID
    /// The account of the hint was decided by name, and not learned.
    let isDecided: Bool
  }

  private struct HintedAccounts {
    var byToken: HintedAccount?
    var byAppTransaction: HintedAccount?
    var byPreviousChain: HintedAccount?
  }

  /// The account of the first hint of each kind that has one. What is ambiguous has none (R71).
  private func accounts(hintedBy hints: ChainHints, in scope: AppScope) throws -> HintedAccounts {
    try view.reader.willRead(hints.keys(in: scope))
    return HintedAccounts(
      byToken: try hints.tokens.firstAccount { try account(of: ScopedToken(scope, $0)) },
      byAppTransaction: try hints.appTransactions.firstAccount {
        try signedAccount(of: ScopedTarget(scope, .appTransaction($0)))
      },
      byPreviousChain: try hints.previousChains.firstAccount {
        try signedAccount(of: ScopedTarget(scope, .chain($0)))
      })
  }

  func account(of token: ScopedToken) throws -> HintedAccount? {
    guard let row = try view.token(token), let account = row.account else { return nil }
    switch row.state {
    case .bound: return HintedAccount(id: account, isDecided: true)
    case .learned where context.catalog.learnsTokens(in: token.scope):
      return HintedAccount(id: account, isDecided: false)
    case .learned, .ambiguous: return nil
    }
  }

  /// The account of a link; nil for one that does not lead other purchases to it.
  private func signedAccount(of target: ScopedTarget) throws -> HintedAccount? {
    guard let link = try view.link(of: target), let account = link.account, link.teaches,
      link.standing == .decided || context.catalog.usesLearnedHints(in: target.scope)
    else { return nil }
    return HintedAccount(id: account, isDecided: link.standing == .decided)
  }

  func hints(of target: ScopedTarget) throws -> ChainHints {
    guard case .chain(let chain) = target.target else { return ChainHints() }
    return try view.hints(of: chain, in: target.scope)
  }

  // MARK: Changes

  /// Links a target to an account, whether it has another one or none.
  mutating func setAccount(
    _ account: ScopedAccount, of target: ScopedTarget, reason: LinkReason,
    standing: LinkStanding
  ) throws {
    try ensureAccount(account)
    try moveLink(of: target, to: account.id, reason: reason, standing: standing)
    if case .appTransaction = target.target, reason != .imported {
      try queueChains(hintedBy: target)
    }
  }

  /// Changes the account of a link and appends the event to its history.
  ///
  /// - Parameter standing: nil: a link to an account keeps it.
  mutating func moveLink(
    of target: ScopedTarget, to account: AccountID?, reason: LinkReason,
    standing: LinkStanding? = nil, _ change: (inout LinkRow) -> Void = { _ in }
  ) throws {
    try noteAffected(target)
    let former = try view.link(of: target)?.account
    if case .chain = target.target, former != account {
      for (owner, change) in [(former, -1), (account, 1)] {
        guard let owner else { continue }
        try view.updateAccount(ScopedAccount(target.scope, owner), at: context.at) {
          $0.chains += change
        }
      }
    }
    view.append(
      LinkEventWrite(
        target: target,
        event: LinkEvent(
          from: reason == .deleted ? nil : former, to: account, isFromErased: reason == .deleted,
          reason: reason, author: context.author.map { LinkAuthor($0) },
          traceID: context.author?.traceID, onBehalfOf: context.onBehalfOf,
          note: context.note,
          at: context.at)))
    try view.updateLink(of: target, at: context.at) { row in
      row.account = account
      row.isDetached = false
      row.standing = standing ?? (account == nil ? .named : row.standing)
      if reason != .merged { row.isUnsigned = reason == .imported }
      change(&row)
    }
  }

  /// Makes an unsigned link a signed one, and a hinted one a named one, after the account submitted a
  /// signed fact of the target.
  private mutating func confirmLink(of target: ScopedTarget) throws {
    try noteAffected(target)
    try view.updateLink(of: target, at: context.at) { row in
      row.isUnsigned = false
      if row.standing == .hinted { row.standing = .named }
    }
    if case .appTransaction = target.target { try queueChains(hintedBy: target) }
  }
}

extension Array {
  fileprivate func firstAccount<Account>(
    _ find: (Element) throws -> Account?
  ) rethrows -> Account? {
    for element in self {
      if let account = try find(element) { return account }
    }
    return nil
  }
}
