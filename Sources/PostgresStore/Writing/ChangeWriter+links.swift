import EntitlementDomain
import EntitlementStore

// Links with their events, the accounts that have them, and the tokens of accounts.
extension ChangeWriter {
  mutating func addLinks() {
    let changed = linksThatLoseTheirEvent
    addFormerEvents(of: changed)
    for isNew in [true, false] {
      let writes = changes.links.filter { $0.value.isNew == isNew }
      add(
        isNew ? WriteStatements.addLinks : WriteStatements.writeLinks,
        [
          .int64s(writes.map { scopes[$0.key.scope] }),
          .byteStrings(writes.map(\.key.target.stored)),
          .texts(writes.map(\.value.row.account?.rawValue)),
          .bools(writes.map(\.value.row.isUnsigned)), .bools(writes.map(\.value.row.isDetached)),
          .bools(writes.map(\.value.row.isFormerChain)),
          .int64s(writes.map { Int64($0.value.row.standing.rawValue) }),
          .int64s(writes.map(\.value.changedAt.rawValue)),
          .int64s(writes.map(\.value.row.revision)),
          .int64s(writes.map { $0.value.changeOrdinal.map(Int64.init) }),
          .int64s(writes.map { plainEvents[$0.key].map { Int64($0.place) } }),
          .int64s(
            writes.map { target, _ in
              plainEvents[target]?.reason
                ?? (isNew || changed.contains(target) ? nil : WriteStatements.keptEvent)
            }),
          .int64s(writes.map { headers[author: plainEvents[$0.key]?.author] ?? 0 }),
          .byteStrings(writes.map { plainEvents[$0.key]?.trace ?? [] }),
        ], count: writes.count)
    }
  }

  /// The stored links whose ``PlainLinkEvent``, if they have one, ends with these changes: another event
  /// follows, or its account or moment changes.
  private var linksThatLoseTheirEvent: Set<ScopedTarget> {
    var targets = Set(changes.linkEvents.map(\.target))
    for (target, write) in changes.links
    where write.changeOrdinal != nil || write.storedAccount != write.row.account {
      targets.insert(target)
    }
    return targets.filter { changes.links[$0]?.isNew == false }
  }

  /// Stores the earlier events of changed links where they are found without the links. Runs before
  /// the links change, and before accounts are erased from the events.
  private mutating func addFormerEvents(of changed: Set<ScopedTarget>) {
    var moved = Columns2<[UInt8]>()
    var left = Columns3<String, [UInt8]>()
    for target in changed {
      // Without an account, all its events are in `link_events`, and no account has it.
      guard let write = changes.links[target], let account = write.storedAccount else { continue }
      let scope = scopes[target.scope]
      moved.add(scope, target.target.stored)
      if account != write.row.account
        || changes.erasedAccounts.contains(ScopedAccount(target.scope, account))
      {
        left.add(scope, account.rawValue, target.target.stored)
      }
    }
    add(WriteStatements.moveLinkEvents, moved.values, count: moved.count)
    add(WriteStatements.keepAccountEvents, left.values, count: left.count)
  }

  /// The targets that accounts get and lose.
  private func movedTargets() -> [ScopedAccount: (gained: [[UInt8]], lost: [[UInt8]])] {
    var moved: [ScopedAccount: (gained: [[UInt8]], lost: [[UInt8]])] = [:]
    for (target, write) in changes.links where write.storedAccount != write.row.account {
      let stored = target.target.stored
      if let account = write.storedAccount {
        moved[ScopedAccount(target.scope, account), default: ([], [])].lost.append(stored)
      }
      if let account = write.row.account {
        moved[ScopedAccount(target.scope, account), default: ([], [])].gained.append(stored)
      }
    }
    return moved
  }

  mutating func addAccounts() {
    // The row of an account is written once where the account only gets targets.
    var moved = movedTargets()
    var gained: [ScopedAccount: String] = [:]
    for account in changes.accounts.keys {
      guard let targets = moved[account], targets.lost.isEmpty else { continue }
      moved[account] = nil
      gained[account] = Targets.array(targets.gained)
    }
    for isNew in [true, false] {
      let writes = changes.accounts.filter { $0.value.isNew == isNew }
      add(
        isNew ? WriteStatements.addAccounts : WriteStatements.writeAccounts,
        [
          .int64s(writes.map { scopes[$0.key.scope] }), .texts(writes.map(\.key.id.rawValue)),
          .texts(writes.map(\.value.row.mergedInto?.rawValue)),
          .bools(writes.map(\.value.row.isDeleted)),
          .int64s(writes.map { Int64($0.value.row.claims) }),
          .int64s(writes.map(\.value.row.claimsSince?.rawValue)),
          .int64s(writes.map { Int64($0.value.row.chains) }),
          .int64s(writes.map(\.value.changedAt.rawValue)),
          .int64s(writes.map(\.value.row.revision)),
          .int64s(writes.map { $0.value.changeOrdinal.map(Int64.init) }),
          .texts(writes.map { gained[$0.key] ?? Targets.array([]) }),
        ], count: writes.count)
    }
    // After the accounts, whose rows may be new again.
    let others = Array(moved)
    add(
      WriteStatements.moveAccountTargets,
      [
        .int64s(others.map { scopes[$0.key.scope] }), .texts(others.map(\.key.id.rawValue)),
        .texts(others.map { Targets.array($0.value.gained) }),
        .texts(others.map { Targets.array($0.value.lost) }),
      ], count: others.count)
  }

  mutating func addTokens() {
    var written: [Bool: [(token: ScopedToken, row: TokenRow)]] = [:]
    var gone = Columns2<[UInt8]>()
    for (token, row) in changes.tokens {
      if let row {
        written[rows.tokens[token] == nil, default: []].append((token, row))
      } else {
        gone.add(scopes[token.scope], token.token.packedBytes)
      }
    }
    for (isNew, tokens) in written {
      add(
        isNew ? WriteStatements.addTokens : WriteStatements.writeTokens,
        [
          .int64s(tokens.map { scopes[$0.token.scope] }),
          .byteStrings(tokens.map(\.token.token.packedBytes)),
          .texts(tokens.map(\.row.account?.rawValue)),
          .int64s(tokens.map { Int64($0.row.state.rawValue) }), .texts(tokens.map(\.row.author)),
          .texts(tokens.map(\.row.note)), .int64s(tokens.map(\.row.since.rawValue)),
          .texts(tokens.map(\.row.onBehalfOf)),
        ], count: tokens.count)
    }
    add(WriteStatements.deleteTokens, gone.values, count: gone.count)
  }

  mutating func addLinkEvents() {
    let erased = Array(changes.erasedAccounts)
    if !erased.isEmpty {
      // Before the events of this transaction are inserted: the account may be named again after
      // its deletion.
      add(
        WriteStatements.eraseAccounts,
        [.int64s(erased.map { scopes[$0.scope] }), .texts(erased.map(\.id.rawValue))])
      add(
        WriteStatements.eraseRefusedClaims,
        [.int64s(erased.map { scopes[$0.scope] }), .texts(erased.map(\.id.rawValue))])
      add(
        ImportStatements.erase,
        [.int64s(erased.map { scopes[$0.scope] }), .texts(erased.map(\.id.rawValue))])
    }
    var writes: [(place: Int64, write: LinkEventWrite)] = []
    var places: [Int64?] = []
    var accounts = Columns3<String, [UInt8]>()
    for (index, write) in changes.linkEvents.enumerated() {
      // Kept with the link, whose account it names.
      if plainEvents[write.target]?.place == index + 1 { continue }
      writes.append((Int64(index) + 1, write))
      for account in changes.formerAccounts(of: write) {
        places.append(Int64(index) + 1)
        accounts.add(scopes[write.target.scope], account.rawValue, write.target.target.stored)
      }
    }
    let events = writes.map(\.write.event)
    let targets = writes.map(\.write.target)
    add(
      WriteStatements.writeLinkEvents,
      [
        .int64s(writes.map(\.place)), .int64s(targets.map { scopes[$0.scope] }),
        .byteStrings(targets.map(\.target.stored)),
        .int64s(events.map(\.at.rawValue)), .texts(events.map(\.from?.rawValue)),
        .texts(events.map(\.to?.rawValue)), .bools(events.map(\.isFromErased)),
        .bools(events.map(\.isToErased)), .texts(events.map(\.reason.rawValue)),
        .int64s(events.map { headers[author: $0.author] }), .texts(events.map(\.note)),
        .texts(events.map(\.onBehalfOf)), .byteStrings(events.map(\.traceID)),
      ], count: writes.count)
    add(
      WriteStatements.writeAccountEvents, [.int64s(places)] + accounts.values,
      count: accounts.count)
  }

  /// After ``addLinkEvents()``, which erases accounts.
  mutating func addRefusedClaims() {
    let claims = Array(changes.refusedClaims.values)
    guard let latest = claims.map(\.at).max() else { return }
    let scopes = PostgresValue.int64s(claims.map { self.scopes[$0.key.target.scope] })
    let targets = PostgresValue.byteStrings(claims.map(\.key.target.target.stored))
    let claimers = PostgresValue.texts(claims.map(\.key.claimer.rawValue))
    add(
      WriteStatements.writeRefusedClaims,
      [
        scopes, targets, claimers, .int64s(claims.map(\.at.rawValue)),
        .int64s(claims.map { headers[author: $0.author] }), .byteStrings(claims.map(\.traceID)),
      ])
    add(WriteStatements.trimRefusedClaimsOfTargets, [scopes, targets])
    add(WriteStatements.trimRefusedClaimsOfClaimers, [scopes, claimers])
    add(
      WriteStatements.deleteOldRefusedClaims,
      [.int64(latest.advanced(by: -RefusedClaim.lifetime).rawValue)])
  }
}
