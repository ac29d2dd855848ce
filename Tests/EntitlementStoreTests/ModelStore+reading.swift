import EntitlementDomain
import EntitlementStore

extension ModelStore: LedgerReading {
  func standingFact(_ fact: ScopedFact) -> StandingFact? {
    facts[fact].map {
      StandingFact(
        target: $0.target, precedence: $0.signed.fact.precedence, document: $0.document,
        versions: $0.history.map { .several($0) } ?? .single(payload: $0.signed.signed.payload),
        payload: $0.signed.signed.payload, supplement: $0.supplement)
    }
  }

  func link(of target: ScopedTarget) -> LinkRow? { links[target] }

  func events(of target: ScopedTarget) -> [LinkEvent] {
    (history[target] ?? []).suffix(ClaimHistory.eventLimit)
  }

  func refusedClaim(_ key: RefusedClaim.Key) -> Milliseconds? { refusedClaims[key]?.at }

  func account(_ account: ScopedAccount) -> AccountRow? { accounts[account] }

  func token(_ token: ScopedToken) -> TokenRow? { tokens[token] }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) -> [FactHintsRow] {
    stored(of: ScopedTarget(scope, .chain(chain)))
      .filter { $0.value.signed.fact.authority.isSigned }
      .map { key, stored in
        let precedence = stored.signed.fact.precedence
        return FactHintsRow(
          fact: key.key, signedDate: precedence.signedDate, digest: precedence.digest,
          hints: stored.hints)
      }
      .sorted { ($0.signedDate, $0.digest) > ($1.signedDate, $1.digest) }
  }

  func facts(of target: ScopedTarget) -> [Fact] {
    stored(of: target).values.map(\.completed)
  }

  private func stored(of target: ScopedTarget) -> [ScopedFact: StoredFact] {
    facts.filter { $0.key.scope == target.scope && $0.value.target == target.target }
  }

  func unlinkedChains(with hint: ScopedHint) -> [OriginalTransactionID] {
    var chains: Set<OriginalTransactionID> = []
    for (key, stored) in facts where key.scope == hint.scope {
      guard case .chain(let chain) = stored.target, stored.hints.carry(hint.hint),
        links[ScopedTarget(hint.scope, .chain(chain))]?.account == nil
      else { continue }
      chains.insert(chain)
    }
    return chains.sorted()
  }

  func grant(_ grant: ScopedGrant) -> Grant? { grants[grant] }

  func holdings(of account: ScopedAccount) -> AccountHoldings {
    let scope = account.scope
    return AccountHoldings(
      targets: links.filter { $0.key.scope == scope && $0.value.account == account.id }
        .map(\.key.target).sorted(),
      tokens: tokens.filter { $0.key.scope == scope && $0.value.account == account.id }
        .map(\.key.token).sorted(),
      grants: grants.values.filter { $0.scope == scope && $0.accountID == account.id }
        .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) },
      merged: accounts.filter { $0.key.scope == scope && $0.value.mergedInto == account.id }
        .map(\.key.id).sorted())
  }

  func isKnown(_ notification: NotificationUUID) -> Bool { notifications[notification] != nil }

  /// Jobs of the model have no ids.
  func job(_ reference: AppStoreJobReference) -> AppStoreJob? {
    if case .key(let key) = reference { jobs[key] } else { nil }
  }

  func consumption(_ key: ConsumptionKey) -> ConsumptionRecord? { consumption[key] }

  func consent(of account: ScopedAccount) -> ConsumptionConsent? { consents[account] }
}

extension FactHints {
  fileprivate func carry(_ hint: LinkHint) -> Bool {
    switch hint {
    case .token(let token): appAccountToken == token
    case .appTransaction(let id): appTransactionID == id
    case .previousChain(let chain): previousChain == chain
    }
  }
}
