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
    guard let source = sources(of: entitlement).first else {
      return findings(on: entitlement).min { $0.isMoreRelevant(than: $1) }
    }
    return finding(on: entitlement, by: source.origin)
  }

  /// The finding of one source. All parts are sorted by their ids, so it is found without the others.
  ///
  /// - Returns: nil if it does not confer the entitlement any more, by its chain or its product.
  func finding(
    on entitlement: EntitlementID, by origin: EntitlementSource.Origin
  ) -> Finding? {
    switch origin {
    case .purchase(let id, let chain, let product):
      if let position = history.chains.position(of: chain, by: \.id),
        confers(verdicts[position].period.product, entitlement),
        table.origin(verdicts[position].period.fact) == origin
      {
        return finding(onChain: position)
      }
      let position = history.purchases.position(of: product) { table.products[$0.product].id }
      guard let position, confers(history.purchases[position].product, entitlement) else {
        return nil
      }
      return history.purchases[position].windows.firstIndex {
        table.transaction($0.fact).transactionID == id
      }.map { finding(onWindow: $0, of: position) }
    case .grant(let id):
      return history.grants.position(of: id, by: \.id).map { finding(onGrant: $0) }
    case .grandfathering(let id):
      return history.grandfathering.firstIndex { $0.rule.id == id }.map { finding(onRule: $0) }
    }
  }

  /// All parts that confer an entitlement, did so, or might do so. Of the products that are not in the
  /// catalog, the most relevant one.
  private func findings(on entitlement: EntitlementID) -> [Finding] {
    chainFindings(on: entitlement) + purchaseFindings(on: entitlement)
      + grantFindings(on: entitlement) + grandfatheringFindings(on: entitlement)
      + (unnamedProduct.map { [$0] } ?? [])
  }

  /// All facts, grants and rules on which a finding's decision depends.
  func grounds(of finding: Finding) -> [ConsideredPart.Part] {
    switch finding.subject {
    case .chain(let position):
      let decisive = verdicts[position].period.fact
      let period = ConsideredPart.Part.transaction(fact: decisive)
      return dependsOnRenewal(position) ? [period, .renewal(chain: position)] : [period]
    case .followed(let period, _): return [.transaction(fact: period.fact)]
    case .purchase(let index, let position):
      return [.transaction(fact: history.purchases[position].windows[index].fact)]
    case .grant(let position): return [.grant(position)]
    case .grandfathering(let position):
      let id = history.grandfathering[position].verdict.state.appTransactionID
      let appTransaction = id.flatMap { id in
        history.appTransactions.first { table.appTransaction($0).identity == id }
      }
      return [.rule(position)] + (appTransaction.map { [.appTransaction(fact: $0)] } ?? [])
    case .unnamedProduct(let position):
      return facts(ofUnnamedProduct: position).prefix(1).map { .transaction(fact: $0) }
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
    var findings: [Finding] = []
    for position in chains(conferring: entitlement) {
      if confers(verdicts[position].period.product, entitlement) {
        findings.append(finding(onChain: position))
        continue
      }
      let chain = history.chains[position]
      for (product, known) in zip(chain.products, chain.productPeriods(at: now))
      where confers(product, entitlement) {
        let period = chain.periods[known.followed]
        let outcome = chain.outcomeOfFollowed(period, at: now)
        findings.append(
          Finding(
            subject: .followed(period, chain: position), ground: ground(period.fact),
            rank: StandingRank.rank(of: outcome.status), end: period.accessEnd))
      }
    }
    return findings
  }

  private func purchaseFindings(on entitlement: EntitlementID) -> [Finding] {
    history.purchases.indices.flatMap { position -> [Finding] in
      let purchases = history.purchases[position]
      guard confers(purchases.product, entitlement) else { return [] }
      return purchases.windows.indices.map { finding(onWindow: $0, of: position) }
    }
  }

  private func finding(onWindow index: Int, of position: Int) -> Finding {
    let window = history.purchases[position].windows[index]
    return Finding(
      subject: .purchase(window: index, of: position), ground: ground(window.fact),
      rank: StandingRank.rank(of: window.outcome(at: now).status),
      end: window.accessEnd ?? Milliseconds(.max))
  }

  private func grantFindings(on entitlement: EntitlementID) -> [Finding] {
    history.grants.indices.filter { history.grants[$0].entitlementID == entitlement }
      .map { finding(onGrant: $0) }
  }

  private func finding(onGrant position: Int) -> Finding {
    let grant = history.grants[position]
    let status: DetailedStatus =
      grant.isInForce(at: now)
      ? .active : grant.isOver(at: now) ? .expired : .upcoming
    return Finding(
      subject: .grant(position),
      ground: DecisionGround(kind: .grant, identifier: grant.id.rawValue),
      rank: StandingRank.rank(of: status), end: grant.end ?? Milliseconds(.max))
  }

  private func grandfatheringFindings(on entitlement: EntitlementID) -> [Finding] {
    history.grandfathering.indices
      .filter { history.grandfathering[$0].rule.entitlements.contains(entitlement) }
      .map { finding(onRule: $0) }
  }

  private func finding(onRule position: Int) -> Finding {
    let (rule, verdict) = history.grandfathering[position]
    return Finding(
      subject: .grandfathering(position),
      ground: DecisionGround(kind: .grandfatheringRule, identifier: rule.id.rawValue),
      rank: Self.rank(of: verdict.state), end: verdict.since ?? Milliseconds(.min))
  }

  /// The most relevant product in force that is not in the catalog, and so confers nothing (R14).
  static func unnamedProduct(of state: CustomerState) -> Finding? {
    var found: Finding?
    for position in state.products.indices where !state.products[position].isInCatalog {
      let standing = state.products[position].standing
      guard standing.coreState == .active else { continue }
      let finding = Finding(
        subject: .unnamedProduct(position),
        ground: DecisionGround(kind: .transaction, identifier: standing.transactionID.rawValue),
        rank: unnamedProductRank, end: standing.periodEnd ?? Milliseconds(.max))
      if found.map({ finding.isMoreRelevant(than: $0) }) ?? true { found = finding }
    }
    return found
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
