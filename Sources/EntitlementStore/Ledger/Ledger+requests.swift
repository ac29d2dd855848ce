import EntitlementDomain

// What somebody asks for by name (R46). A link that is made so speaks for others as one that a
// signed name made: it leads on to unlinked chains that name the chain as the previous one, to the
// app transaction ids that its facts carry, and to their unlinked chains. It teaches no
// `appAccountToken`. What is taken from an account is taken alone: the app transaction id of a chain
// stays where it is.
extension Ledger {
  private enum RequestOutcome {
    case changed
    /// It stood so before, for these customers.
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
      let told = ToldChanges(
        revisions: try subjects.map { ($0, try view.revision(of: $0)) }, changed: [])
      return { numbering in
        .done(
          LinkReceipt(
            targets: [], customers: told.customers(numbering), changed: [],
            latest: told.latest(numbering), isChanged: false))
      }
    case .changed:
      try settleLedChains()
      let targets = try changedTargets().sorted()
      let told = try appendChanges()
      return { numbering in
        .done(
          LinkReceipt(
            targets: targets, customers: told.customers(numbering), changed: told.changed,
            latest: told.latest(numbering), isChanged: true))
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
    }
  }

  private mutating func link(_ target: ScopedTarget, to name: ScopedAccount) throws
    -> RequestOutcome
  {
    guard let row = try knownLink(of: target) else { return .refused(.targetUnknown) }
    let account = try owner(name)
    switch row.account {
    case account.id?: return .unchanged([account.subject])
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
      // Done before, and asked again.
      if row.account == account.id { return .unchanged([account.subject]) }
      if row.account != former.id { return .refused(.linkedElsewhere) }
    }
    if row.account == account.id { return .unchanged([account.subject]) }
    return try give(target, row, to: account, reason: .transferred)
  }

  private mutating func merge(named formerName: ScopedAccount, into name: ScopedAccount) throws
    -> RequestOutcome
  {
    guard let former = try knownOwner(formerName) else { return .refused(.accountUnknown) }
    let account = try owner(name)
    if former == account {
      // Done before, and asked again: the one is a name of the other already.
      let isDone = formerName != account && formerName != name
      return isDone ? .unchanged([account.subject]) : .refused(.sameAccount)
    }
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

  // MARK: Steps

  /// - Parameter row: as it stood before.
  private mutating func give(
    _ target: ScopedTarget, _ row: LinkRow, to account: ScopedAccount, reason: LinkReason
  ) throws -> RequestOutcome {
    try setAccount(account, of: target, reason: reason)
    if case .chain(let chain) = target.target, row.account == nil || row.isUnsigned {
      let hints = try view.hints(of: chain, in: target.scope)
      try view.reader.willRead(
        hints.keys(in: target.scope).union(hints.keysToLeadOn(target)))
      try leadOn(target, with: hints, isNamed: false)
    }
    return .changed
  }

  /// Nil when neither a link nor a fact is known. A chain that is known has a row.
  private func knownLink(of target: ScopedTarget) throws -> LinkRow? {
    if let row = try view.link(of: target) { return row }
    guard case .appTransaction(let id) = target.target else { return nil }
    let fact = FactKey(kind: .appTransaction, identifier: id.rawValue)
    return try view.standingFact(ScopedFact(target.scope, fact)).map { _ in LinkRow() }
  }

  /// What has another account than before the write.
  private func changedTargets() throws -> [LinkTarget] {
    try concerns.targets.filter {
      try view.link(of: $0)?.account != concerns[$0]?.accountBefore
    }.map(\.target)
  }
}
