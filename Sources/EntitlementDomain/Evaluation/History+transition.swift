extension History {
  /// The earliest later moment at which the state changes without new facts (R30).
  func nextTransition(
    of state: CustomerState, record: CustomerRecord, moments: TransitionMoments,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Milliseconds? {
    let now = state.evaluatedAt
    for moment in moments.later() {
      try check.ask()
      switch difference(of: state, at: now, and: moment) {
      case .none: continue
      case .certain: return moment
      case .possible:
        var later = try self.state(of: record, at: moment, check: &check)
        later.evaluatedAt = now
        if later != state { return moment }
      }
    }
    return nil
  }

  /// The comparison of two moments without computing the later state.
  private enum Difference {
    case none
    /// A decision differs, but the state may be the same.
    case possible
    /// A decision differs that is visible in the state.
    case certain
  }

  private func difference(
    of state: CustomerState, at now: Milliseconds, and later: Milliseconds
  ) -> Difference {
    var isPossible = false
    for chain in chains {
      switch difference(of: chain, in: state, at: now, and: later) {
      case .none: break
      case .possible: isPossible = true
      case .certain: return .certain
      }
    }
    for purchases in purchases {
      switch difference(of: purchases, in: state, at: now, and: later) {
      case .none: break
      case .possible: isPossible = true
      case .certain: return .certain
      }
    }
    // Each grant is a separate source.
    if grants.contains(where: { $0.isInForce(at: now) != $0.isInForce(at: later) }) {
      return .certain
    }
    isPossible =
      isPossible
      || grandfathering.contains { $0.verdict.confers(at: now) != $0.verdict.confers(at: later) }
    return isPossible ? .possible : .none
  }

  /// Compares the decisions of one chain. A different decision by a period of the same product is
  /// visible if the state shows that product by this period's transaction: no other chain has it.
  private func difference(
    of chain: SubscriptionChain, in state: CustomerState, at now: Milliseconds,
    and later: Milliseconds
  ) -> Difference {
    let before = chain.decisivePeriod(in: table, at: now)
    let after = chain.decisivePeriod(in: table, at: later)
    let outcome = chain.outcome(of: before, leeway: renewalLeeway, at: now)
    let laterOutcome = chain.outcome(of: after, leeway: renewalLeeway, at: later)
    // Each source names its transaction.
    if conferringFact(before, outcome) != conferringFact(after, laterOutcome) { return .certain }
    let isDecidedAlike = before.fact == after.fact && outcome.status == laterOutcome.status
    if !isDecidedAlike, before.product == after.product,
      isShown(before.fact, of: before.product, in: state)
    {
      return .certain
    }
    let isAlike =
      isDecidedAlike && outcome.reason == laterOutcome.reason
      && outcome.graceEnd == laterOutcome.graceEnd && outcome.notices == laterOutcome.notices
      && before.isRevoked(at: now) == after.isRevoked(at: later)
    // A period that begins may use an offer, end a pending change, or replace another product.
    let isQuiet = chain.periods.allSatisfy { period in
      (period.accessStart <= now) == (period.accessStart <= later)
        && (chain.products.count == 1
          || period.isRevoked(at: now) == period.isRevoked(at: later)
            && period.isReplaced(at: now) == period.isReplaced(at: later))
        && (period.accessStart <= later || period.isRevoked(at: now) == period.isRevoked(at: later))
    }
    return isAlike && isQuiet ? .none : .possible
  }

  /// The position of the transaction that confers entitlements; nil when the chain confers none.
  private func conferringFact(_ period: Period, _ outcome: SubscriptionChain.Outcome) -> Int? {
    outcome.isActive && !table.products[period.product].entitlements.isEmpty ? period.fact : nil
  }

  private func difference(
    of purchases: OneTimePurchases, in state: CustomerState, at now: Milliseconds,
    and later: Milliseconds
  ) -> Difference {
    // Each window in force is a separate source.
    if !table.products[purchases.product].entitlements.isEmpty,
      purchases.windows.contains(where: {
        $0.isInForce(at: now) != $0.isInForce(at: later)
      })
    {
      return .certain
    }
    let isAlike = purchases.windows.allSatisfy { window in
      window.outcome(at: now).status == window.outcome(at: later).status
        && window.isInForce(at: now) == window.isInForce(at: later)
        && window.isRevoked(at: now) == window.isRevoked(at: later)
    }
    if isAlike { return .none }
    let before = purchases.bestWindow(in: table, at: now)
    let after = purchases.bestWindow(in: table, at: later)
    let isDecidedAlike =
      before.fact == after.fact
      && before.outcome(at: now).status == after.outcome(at: later).status
    return !isDecidedAlike && isShown(before.fact, of: purchases.product, in: state)
      ? .certain : .possible
  }

  /// Whether the state shows a product by this transaction.
  private func isShown(_ fact: Int, of product: Int, in state: CustomerState) -> Bool {
    let id = table.transaction(fact).transactionID
    let productID = table.products[product].id
    return state.products.contains {
      $0.standing.transactionID == id && $0.productID == productID
    }
  }
}

/// The moments at which a state may change (R30).
struct TransitionMoments {
  private let now: Milliseconds
  private var upcoming: [Milliseconds] = []
  /// The latest moment up to now; nil when there is none.
  private(set) var latestPast: Milliseconds?

  init(around now: Milliseconds) {
    self.now = now
  }

  mutating func note(_ moment: Milliseconds) {
    if moment > now {
      upcoming.append(moment)
    } else if latestPast.map({ $0 < moment }) ?? true {
      latestPast = moment
    }
  }

  /// The moments after now, without duplicates, the earliest first.
  func later() -> [Milliseconds] {
    var later: [Milliseconds] = []
    for moment in upcoming.sorted() where moment != later.last { later.append(moment) }
    return later
  }
}
