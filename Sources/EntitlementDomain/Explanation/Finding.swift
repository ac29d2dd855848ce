/// A part of a history that confers an entitlement, did so, or might do so.
struct Finding {
  /// The part, by its position in the history.
  enum Subject {
    /// A chain, represented by its deciding period.
    case chain(Int)
    /// A period of a chain whose deciding period has another product.
    case followed(Period, chain: Int)
    case purchase(window: Int, of: Int)
    case grant(Int)
    case grandfathering(Int)
    /// A product that is not in the catalog, by its position in the state (R14).
    case unnamedProduct(Int)
  }

  let subject: Subject
  /// The first fact, grant or rule on which the finding depends.
  let ground: DecisionGround
  /// The relevance when nothing confers the entitlement; 0 is the most relevant.
  let rank: Int
  /// The end of access.
  let end: Milliseconds

  /// The order of findings by relevance: the best rank, then the latest end (R28).
  func isMoreRelevant(than other: Finding) -> Bool {
    if rank != other.rank { return rank < other.rank }
    if end != other.end { return end > other.end }
    return ground < other.ground
  }
}

/// A fact, grant or rule on which a decision depends.
struct DecisionGround: Hashable, Comparable {
  let kind: ConsideredItem.Kind
  let identifier: String

  static func < (left: Self, right: Self) -> Bool {
    if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
    return Identifier<Self>(left.identifier) < Identifier<Self>(right.identifier)
  }
}

extension Situation {
  /// The finding that decides an entitlement: that of its first source, or the most relevant one if
  /// nothing confers the entitlement.
  ///
  /// - Returns: nil when nothing is known that could confer the entitlement (R27).
  func finding(on entitlement: EntitlementID) -> Finding? {
    let findings = findings(on: entitlement)
    guard let source = sources(of: entitlement).first else {
      return findings.min { $0.isMoreRelevant(than: $1) }
    }
    return findings.first { origin(of: $0.subject) == source.origin }
  }

  /// All parts that confer an entitlement, did so, or might do so.
  func findings(on entitlement: EntitlementID) -> [Finding] {
    chainFindings(on: entitlement) + purchaseFindings(on: entitlement)
      + grantFindings(on: entitlement) + grandfatheringFindings(on: entitlement)
      + unnamedProductFindings()
  }

  /// The origin of a subject as a source; nil for a subject that never confers.
  func origin(of subject: Finding.Subject) -> EntitlementSource.Origin? {
    switch subject {
    case .chain(let position): table.origin(verdicts[position].period.fact)
    case .purchase(let window, let position):
      table.origin(history.purchases[position].windows[window].fact)
    case .grant(let position): .grant(history.grants[position].id)
    case .grandfathering(let position): .grandfathering(history.grandfathering[position].rule.id)
    case .followed, .unnamedProduct: nil
    }
  }

  /// All facts, grants and rules on which a finding's decision depends.
  func grounds(of finding: Finding) -> [DecisionGround] {
    switch finding.subject {
    case .chain(let position):
      let renewal = DecisionGround(
        kind: .renewalInfo, identifier: history.chains[position].id.rawValue)
      return dependsOnRenewal(position) ? [finding.ground, renewal] : [finding.ground]
    case .grandfathering(let position):
      let appTransaction = history.grandfathering[position].verdict.state.appTransactionID
      return [finding.ground]
        + (appTransaction.map {
          [DecisionGround(kind: .appTransaction, identifier: $0.rawValue)]
        } ?? [])
    case .followed, .purchase, .grant, .unnamedProduct:
      return [finding.ground]
    }
  }

  /// Whether the renewal info decides the standing of a chain. It does only after the period's end.
  func dependsOnRenewal(_ position: Int) -> Bool {
    let verdict = verdicts[position]
    guard let renewal = history.chains[position].renewal else { return false }
    switch verdict.outcome.rule.number {
    case 19, 20, 21: return renewal.speaks(of: verdict.period)
    case 24: return true
    default: return false
    }
  }

  /// The finding of a chain, by its deciding period.
  func finding(onChain position: Int) -> Finding {
    let verdict = verdicts[position]
    return Finding(
      subject: .chain(position), ground: ground(verdict.period.fact),
      rank: StandingRank.rank(of: verdict.outcome.status),
      end: verdict.outcome.graceEnd ?? verdict.period.accessEnd)
  }

  /// - Parameter fact: the position of a transaction.
  private func ground(_ fact: Int) -> DecisionGround {
    DecisionGround(kind: .transaction, identifier: table.transaction(fact).transactionID.rawValue)
  }

  // MARK: Kinds of findings

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
        subject: .grant(position),
        ground: DecisionGround(kind: .grant, identifier: grant.id.rawValue),
        rank: StandingRank.rank(of: status), end: grant.end ?? Milliseconds(.max))
    }
  }

  private func grandfatheringFindings(on entitlement: EntitlementID) -> [Finding] {
    history.grandfathering.indices.compactMap { position in
      let (rule, verdict) = history.grandfathering[position]
      guard rule.entitlements.contains(entitlement) else { return nil }
      return Finding(
        subject: .grandfathering(position),
        ground: DecisionGround(kind: .grandfatheringRule, identifier: rule.id.rawValue),
        rank: Self.rank(of: verdict.state), end: verdict.since ?? Milliseconds(.min))
    }
  }

  /// The products in force that are not in the catalog, and so confer nothing (R14).
  private func unnamedProductFindings() -> [Finding] {
    state.products.indices.compactMap { position in
      let product = state.products[position]
      guard !product.isInCatalog, product.standing.coreState == .active else { return nil }
      return Finding(
        subject: .unnamedProduct(position),
        ground: DecisionGround(
          kind: .transaction, identifier: product.standing.transactionID.rawValue),
        rank: Self.unnamedProductRank, end: product.standing.periodEnd ?? Milliseconds(.max))
    }
  }

  /// Less relevant than all purchases and grants.
  private static var unnamedProductRank: Int { 100 }

  /// Less relevant than purchases. Of the denials, a flagged one is more relevant.
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
  /// Whether the grant has ended, or was withdrawn before its start.
  func isOver(at now: Milliseconds) -> Bool {
    end.map { $0 <= max(now, starts) } ?? false
  }
}
