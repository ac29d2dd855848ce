extension Situation {
  /// What decides an entitlement: what its first source comes from, or where nothing confers it,
  /// the most telling of what might have.
  ///
  /// - Returns: nil when nothing is known that could confer it (R27).
  func finding(on entitlement: EntitlementID) -> Finding? {
    let findings = findings(on: entitlement)
    guard let source = sources(of: entitlement).first else {
      return findings.min { $0.isMoreTelling(than: $1) }
    }
    return findings.first { origin(of: $0.subject) == source.origin }
  }

  /// Everything that confers an entitlement, did so, or was meant to.
  func findings(on entitlement: EntitlementID) -> [Finding] {
    chainFindings(on: entitlement) + purchaseFindings(on: entitlement)
      + grantFindings(on: entitlement) + grandfatheringFindings(on: entitlement)
      + unnamedProductFindings()
  }

  /// What a subject is called where it confers; nil for one that never does.
  func origin(of subject: Finding.Subject) -> EntitlementSource.Origin? {
    switch subject {
    case .chain(let position): evidence.origin(verdicts[position].period.fact)
    case .purchase(let window, let position):
      evidence.origin(history.purchases[position].windows[window].fact)
    case .grant(let position): .grant(history.grants[position].id)
    case .grandfathering(let position): .grandfathering(history.grandfathering[position].rule.id)
    case .followed, .unnamedProduct: nil
    }
  }

  /// Everything that a finding's decision rests on.
  func grounds(of finding: Finding) -> [Ground] {
    switch finding.subject {
    case .chain(let position):
      let renewal = Ground(
        kind: .renewalInfo, identifier: history.chains[position].id.rawValue)
      return restsOnRenewal(position) ? [finding.ground, renewal] : [finding.ground]
    case .grandfathering(let position):
      let appTransaction = history.grandfathering[position].verdict.state.appTransactionID
      return [finding.ground]
        + (appTransaction.map { [Ground(kind: .appTransaction, identifier: $0.rawValue)] } ?? [])
    case .followed, .purchase, .grant, .unnamedProduct:
      return [finding.ground]
    }
  }

  /// Whether the renewal info had a say in how a chain stands: it has after the period's end only.
  func restsOnRenewal(_ position: Int) -> Bool {
    let verdict = verdicts[position]
    switch verdict.outcome.rule.number {
    case 19, 20, 21, 24:
      return history.chains[position].relevantRenewal(for: verdict.period) != nil
    default: return false
    }
  }

  /// The finding that a chain is, by the period that decides it.
  func finding(onChain position: Int) -> Finding {
    let verdict = verdicts[position]
    return Finding(
      subject: .chain(position), ground: ground(verdict.period.fact),
      rank: StandingRank.rank(of: verdict.outcome.status),
      end: verdict.outcome.graceEnd ?? verdict.period.accessEnd)
  }

  /// - Parameter fact: the position of a transaction.
  private func ground(_ fact: Int) -> Ground {
    Ground(kind: .transaction, identifier: evidence.transaction(fact).transactionID.rawValue)
  }

  // MARK: Kinds

  private func chainFindings(on entitlement: EntitlementID) -> [Finding] {
    history.chains.indices.flatMap { position -> [Finding] in
      let chain = history.chains[position]
      if confers(verdicts[position].period.product, entitlement) {
        return [finding(onChain: position)]
      }
      return chain.products.compactMap { product in
        guard confers(product, entitlement), let period = chain.followedPeriod(of: product, at: now)
        else { return nil }
        let outcome = chain.outcomeOfFollowed(period, at: now)
        return Finding(
          subject: .followed(period, chain: position), ground: ground(period.fact),
          rank: StandingRank.rank(of: outcome.status), end: period.accessEnd)
      }
    }
  }

  private func purchaseFindings(on entitlement: EntitlementID) -> [Finding] {
    history.purchases.indices.flatMap { position -> [Finding] in
      let purchases = history.purchases[position]
      guard confers(purchases.product, entitlement) else { return [] }
      return purchases.windows.indices.map { index in
        let window = purchases.windows[index]
        return Finding(
          subject: .purchase(window: index, of: position), ground: ground(window.fact),
          rank: StandingRank.rank(of: window.outcome(at: now).status),
          end: window.accessEnd ?? Milliseconds(.max))
      }
    }
  }

  private func grantFindings(on entitlement: EntitlementID) -> [Finding] {
    history.grants.indices.compactMap { position in
      let grant = history.grants[position]
      guard grant.entitlementID == entitlement else { return nil }
      let status: DetailedStatus =
        grant.isInForce(at: now)
        ? .active : grant.isOver(at: now) ? .expired : .upcoming
      return Finding(
        subject: .grant(position), ground: Ground(kind: .grant, identifier: grant.id.rawValue),
        rank: StandingRank.rank(of: status), end: grant.end ?? Milliseconds(.max))
    }
  }

  private func grandfatheringFindings(on entitlement: EntitlementID) -> [Finding] {
    history.grandfathering.indices.compactMap { position in
      let (rule, verdict) = history.grandfathering[position]
      guard rule.entitlements.contains(entitlement) else { return nil }
      return Finding(
        subject: .grandfathering(position),
        ground: Ground(kind: .grandfatheringRule, identifier: rule.id.rawValue),
        rank: Self.rank(of: verdict.state), end: verdict.since ?? Milliseconds(.min))
    }
  }

  /// R14: it is in force, and would confer something if the catalog named it.
  private func unnamedProductFindings() -> [Finding] {
    state.products.indices.compactMap { position in
      let product = state.products[position]
      guard !product.isInCatalog, product.standing.coreState == .active else { return nil }
      return Finding(
        subject: .unnamedProduct(position),
        ground: Ground(
          kind: .transaction, identifier: product.standing.transactionID.rawValue),
        rank: Self.unnamedProductRank, end: product.standing.periodEnd ?? Milliseconds(.max))
    }
  }

  /// Behind everything that was bought or given.
  private static var unnamedProductRank: Int { 100 }

  /// Behind what was bought, since it may be heard of later; a clear answer says least, as nobody
  /// needs to look.
  private static func rank(of state: GrandfatheringState) -> Int {
    switch state.outcome {
    case .granted: unnamedProductRank + 1
    case .unknown: unnamedProductRank + 2
    case .denied: unnamedProductRank + (state.isFlagged ? 3 : 4)
    case .notEvaluated: unnamedProductRank + 5
    }
  }
}

extension Grant {
  /// It confers no more, or was withdrawn before it could.
  func isOver(at now: Milliseconds) -> Bool {
    end.map { $0 <= max(now, starts) } ?? false
  }
}
