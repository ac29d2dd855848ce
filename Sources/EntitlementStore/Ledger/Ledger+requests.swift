import EntitlementDomain

// Explicit requests (R46). A link that is made by a request is propagated like a signed one: to
// unlinked chains that name the chain as their previous one, to the app transaction ids of its
// facts, and to the unlinked chains of these. It learns no `appAccountToken`. An unlink or
// transfer changes its target only: the app transaction id of a chain keeps its account. But what
// was learned of the tokens and app transaction id of the chain is ambiguous if it leads to another
// account (R71).
extension Ledger {
  private enum RequestOutcome {
    case changed
    /// Nothing had to be changed for these customers.
    case unchanged([CustomerSubject])
    case refused(LinkRefusal)
  }

  mutating func answer(_ request: LinkRequest) throws
    -> @Sendable (ChangeNumbering) -> LinkAnswer
  {
    switch try carryOut(request) {
    case .refused(let refusal):
      return { _ in .refused(refusal) }
    case .unchanged(let subjects):
      let summary = WriteSummary(
        revisions: try subjects.map { ($0, try view.revision(of: $0)) }, changed: [])
      return { numbering in
        .done(
          LinkReceipt(
            targets: [], customers: summary.customers(numbering), changed: [],
            latest: summary.latest(numbering), isChanged: false))
      }
    case .changed:
      try bindDerivedTokens(of: request)
      try settleQueuedChains()
      let targets = try changedTargets().sorted()
      try audit(request)
      let summary = try appendChanges()
      return { numbering in
        .done(
          LinkReceipt(
            targets: targets, customers: summary.customers(numbering), changed: summary.changed,
            latest: summary.latest(numbering), isChanged: true))
      }
    }
  }

  private mutating func carryOut(_ request: LinkRequest) throws -> RequestOutcome {
    let scope = request.scope
    switch request.change {
    case .link(let target, let account):
      return try link(ScopedTarget(scope, target), to: ScopedAccount(scope, account))
    case .unlink(let target):
      return try unlink(ScopedTarget(scope, target))
    case .transfer(let target, let former, let account):
      return try transfer(
        ScopedTarget(scope, target), from: former.map { ScopedAccount(scope, $0) },
        to: ScopedAccount(scope, account))
    case .merge(let former, let account):
      return try merge(named: ScopedAccount(scope, former), into: ScopedAccount(scope, account))
    case .delete(let account):
      return try delete(named: ScopedAccount(scope, account))
    case .bindToken(let token, let account):
      let token = ScopedToken(scope, token)
      guard let account else { return try forget(token) }
      return try bind(
        token, to: ScopedAccount(scope, account), keepsBound: request.keepsBoundTokens)
    }
  }

  /// For the accounts that a request names as owners (R74). One that loses its data is no longer
  /// waiting for any.
  private mutating func bindDerivedTokens(of request: LinkRequest) throws {
    let named: AccountID? =
      switch request.change {
      case .link(_, let account), .transfer(_, _, let account), .merge(_, let account): account
      case .bindToken(_, let account): account
      case .unlink, .delete: nil
      }
    if let named { try bindDerivedToken(of: ScopedAccount(request.scope, named)) }
  }

  private mutating func link(_ target: ScopedTarget, to name: ScopedAccount) throws
    -> RequestOutcome
  {
    guard let row = try knownLink(of: target) else { return .refused(.targetUnknown) }
    let account = try owner(name)
    switch row.account {
    case account.id?: return try confirm(target, row, of: account)
    case _?: return .refused(.linkedElsewhere)
    case nil: return try give(target, row, to: account, reason: .assigned)
    }
  }

  private mutating func unlink(_ target: ScopedTarget) throws -> RequestOutcome {
    guard let row = try knownLink(of: target) else { return .refused(.targetUnknown) }
    guard row.account != nil else {
      return .unchanged([target.unlinkedSubject].compactMap(\.self))
    }
    try moveLink(of: target, to: nil, reason: .unassigned) { $0.isDetached = true }
    return .changed
  }

  private mutating func transfer(
    _ target: ScopedTarget, from formerName: ScopedAccount?, to name: ScopedAccount
  ) throws -> RequestOutcome {
    guard let row = try knownLink(of: target) else { return .refused(.targetUnknown) }
    let account = try owner(name)
    if let formerName {
      guard let former = try knownOwner(formerName) else { return .refused(.accountUnknown) }
      if former == account { return .refused(.sameAccount) }
      // A repeat of the request.
      if row.account == account.id { return try confirm(target, row, of: account) }
      if row.account != former.id { return .refused(.linkedElsewhere) }
    }
    if row.account == account.id { return try confirm(target, row, of: account) }
    return try give(target, row, to: account, reason: .transferred)
  }

  private mutating func merge(named formerName: ScopedAccount, into name: ScopedAccount) throws
    -> RequestOutcome
  {
    guard let former = try knownOwner(formerName) else { return .refused(.accountUnknown) }
    let account = try owner(name)
    if former == account {
      // A repeat of the request: one id is an alias of the other already.
      let isDone = formerName != account && formerName != name
      return isDone ? .unchanged([account.subject]) : .refused(.sameAccount)
    }
    let chains = try view.account(former)?.chains ?? 0
    guard try hasRoom(account, forChains: chains) else { return .refused(.accountFull) }
    try merge(former, into: account)
    return .changed
  }

  private mutating func delete(named name: ScopedAccount) throws -> RequestOutcome {
    let account = try owner(name)
    guard let row = try view.account(account) else { return .refused(.accountUnknown) }
    if row.isDeleted { return .unchanged([account.subject]) }
    try delete(account)
    return .changed
  }

  private mutating func bind(
    _ token: ScopedToken, to name: ScopedAccount, keepsBound: Bool
  ) throws -> RequestOutcome {
    let account = try owner(name)
    let known = try view.token(token)
    if known?.state == .bound, known?.account == account.id {
      return .unchanged([account.subject])
    }
    if keepsBound, known?.state == .bound, known?.account != nil {
      return .refused(.linkedElsewhere)
    }
    try ensureAccount(account)
    affected.add(.linked, to: account)
    try bind(
      token, known,
      to: TokenRow(
        account: account.id, state: .bound, author: context.author?.name,
        onBehalfOf: context.onBehalfOf, note: context.note, since: context.at))
    return .changed
  }

  /// Afterwards the token is as if it was never presented.
  private mutating func forget(_ token: ScopedToken) throws -> RequestOutcome {
    guard let known = try view.token(token) else { return .unchanged([]) }
    view.setToken(nil, of: token)
    noteNoLongerFound(known.account, in: token.scope)
    return .changed
  }

  // MARK: Steps

  /// Decides a contested target for the account that has it. Any other one is as the request wants.
  private mutating func confirm(
    _ target: ScopedTarget, _ row: LinkRow, of account: ScopedAccount
  ) throws -> RequestOutcome {
    guard row.standing.isContested else { return .unchanged([account.subject]) }
    try noteAffected(target)
    try view.updateLink(of: target, at: context.at) { $0.standing = .decided }
    affected.add(.linked, to: account)
    try queueChains(hintedBy: target)
    return .changed
  }

  /// - Parameter row: the row before the change.
  private mutating func give(
    _ target: ScopedTarget, _ row: LinkRow, to account: ScopedAccount, reason: LinkReason
  ) throws -> RequestOutcome {
    guard try hasRoom(account, for: target) else { return .refused(.accountFull) }
    try setAccount(account, of: target, reason: reason, standing: .decided)
    guard case .chain(let chain) = target.target else { return .changed }
    let hints = try view.hints(of: chain, in: target.scope)
    try view.reader.willRead(
      hints.keys(in: target.scope).union(hints.propagationKeys(target)))
    try present(
      tokens: hints.tokens, appTransactions: hints.appTransactions, of: target, for: account,
      learns: false)
    if row.account == nil || row.isUnsigned {
      try propagateLink(of: target, with: hints, isNamed: false)
    }
    return .changed
  }

  /// The target is left out of the entry: an identifier of Apple's points to the customer, and a
  /// hash of it is found by trying all (R77). The history of the link has it.
  private mutating func audit(_ request: LinkRequest) throws {
    let scope = request.scope
    func before(_ target: LinkTarget) -> AccountID? {
      affected[ScopedTarget(scope, target)]?.accountBefore
    }
    func owner(_ account: AccountID) throws -> AccountID {
      try self.owner(ScopedAccount(scope, account)).id
    }
    let (account, former): (AccountID?, AccountID?) =
      switch request.change {
      case .link(_, let account): (try owner(account), nil)
      case .unlink(let target): (before(target), nil)
      case .transfer(let target, _, let account): (try owner(account), before(target))
      case .merge(_, let account): (try owner(account), affected.mergedAway.first?.id)
      // The alias of a deleted account is erased with it.
      case .delete(let account): (affected.accounts.first?.id ?? account, nil)
      // The former owner of a token is no party: it loses no purchase.
      case .bindToken(_, let account): (try account.map(owner), nil)
      }
    audit(request.change.method, in: scope, account, from: former)
  }

  /// Nil when neither a link nor a fact is known. A known chain always has a row.
  private func knownLink(of target: ScopedTarget) throws -> LinkRow? {
    if let row = try view.link(of: target) { return row }
    guard case .appTransaction(let id) = target.target else { return nil }
    let fact = FactKey(kind: .appTransaction, identifier: id.rawValue)
    return try view.standingFact(ScopedFact(target.scope, fact)).map { _ in LinkRow() }
  }

  /// The targets whose account the write changed.
  private func changedTargets() throws -> [LinkTarget] {
    try affected.targets.filter {
      try view.link(of: $0)?.account != affected[$0]?.accountBefore
    }.map(\.target)
  }
}
