/// The possible effects of future facts, grants and catalogs.
struct NewFacts {
  private let catalog: Catalog
  /// The products whose purchase confers an entitlement, sorted by id.
  private let products: [EntitlementID: [CatalogProduct]]
  /// The auto-renewable products of a group, sorted by id.
  private let groups: [SubscriptionGroupID: [CatalogProduct]]

  init(catalog: Catalog) {
    self.catalog = catalog
    var products: [EntitlementID: [CatalogProduct]] = [:]
    var groups: [SubscriptionGroupID: [CatalogProduct]] = [:]
    for product in catalog.products.values.sorted(by: { $0.id < $1.id }) {
      if product.kind == .autoRenewable, let group = product.group {
        groups[group, default: []].append(product)
      }
      guard product.givesAccess else { continue }
      for entitlement in Set(product.entitlements) {
        products[entitlement, default: []].append(product)
      }
    }
    self.products = products
    self.groups = groups
  }

  /// The possible changes of an entitlement.
  ///
  /// - Parameter finding: the finding that decides the entitlement.
  func changes(
    of entitlement: EntitlementID, by finding: Finding?, in situation: Situation
  ) -> [ExpectedChange] {
    var decisions = finding.map { changes(of: $0.subject, in: situation) } ?? []
    if situation.sources(of: entitlement).isEmpty {
      if let purchase = purchase(of: products[entitlement] ?? []) { decisions.append(purchase) }
      let lacksAppTransaction = situation.history.grandfathering.contains { rule, verdict in
        rule.entitlements.contains(entitlement) && verdict.state.reason == .noAppTransaction
      }
      if lacksAppTransaction {
        decisions.append(
          Decision(33, "An app transaction tells whether grandfathering confers it."))
      }
      decisions.append(Decision(32, "A grant confers it."))
    }
    return Self.changes(decisions)
  }

  /// The possible changes of a group.
  ///
  /// - Parameter finding: the finding of the chain that decides the group.
  func changes(
    of group: SubscriptionGroupID, by finding: Finding, in situation: Situation
  ) -> [ExpectedChange] {
    var decisions = changes(of: finding.subject, in: situation)
    if situation.group(group)?.standing.coreState != .active,
      let purchase = purchase(of: groups[group] ?? [])
    {
      decisions.append(purchase)
    }
    return Self.changes(decisions)
  }

  private static func changes(_ decisions: [Decision]) -> [ExpectedChange] {
    decisions.prefix(ExplanationBounds.newFacts).map { ExpectedChange(at: nil, decision: $0) }
  }

  /// The effect of buying one of the products; nil when there is none.
  ///
  /// - Parameter products: sorted by id.
  private func purchase(of products: [CatalogProduct]) -> Decision? {
    guard let first = products.first else { return nil }
    // R15 for subscriptions, R11 for other products.
    let rule: Rule = products.contains { $0.kind == .autoRenewable } ? 15 : 11
    if products.count == 1 {
      return Decision(rule, "A purchase of \(first.id.name) makes it active.")
    }
    let named = products.prefix(ExplanationBounds.namedProducts).map(\.id.name)
    let more =
      products.count > named.count ? " and \(products.count - named.count) more" : ""
    return Decision(
      rule, "A purchase of one of these makes it active: \(named.joined(separator: ", "))\(more).")
  }

  // MARK: Effects by finding

  private func changes(of subject: Finding.Subject, in situation: Situation) -> [Decision] {
    switch subject {
    case .chain(let position): return changes(ofChain: position, in: situation)
    case .followed: return []
    case .purchase(let window, let position):
      return changes(
        of: situation.history.purchases[position].windows[window], in: situation)
    case .grant(let position):
      let grant = situation.history.grants[position]
      return grant.isOver(at: situation.now)
        ? [] : [Decision(32, "Withdrawing grant \(grant.id.name) ends it.")]
    case .grandfathering(let position):
      return changes(of: situation.history.grandfathering[position].verdict)
    case .unnamedProduct(let position):
      let id = situation.state.products[position].productID
      return [Decision(14, "The catalog may name \(id.name) and what it confers.")]
    }
  }

  private func changes(ofChain position: Int, in situation: Situation) -> [Decision] {
    let verdict = situation.verdicts[position]
    let chain = situation.history.chains[position].id.name
    let transaction = situation.table.transaction(verdict.period.fact)
    let id = transaction.transactionID.name
    let end =
      transaction.isShared
      ? Decision(16, "The end of the sharing or assignment of transaction \(id) ends it.")
      : Decision(16, "A refund of transaction \(id) ends it.")
    switch verdict.outcome.status {
    case .active where verdict.outcome.rule == 60:
      return [
        Decision(60, "The transactions of chain \(chain) before \(id) tell what came before."), end,
      ]
    case .active where verdict.outcome.rule == 17:
      return [
        Decision(17, "The transaction that replaced \(id) tells how access goes on."), end,
      ]
    case .replaced:
      return [Decision(17, "The transaction that replaced \(id) tells how access goes on.")]
    case .active, .grace:
      return [Decision(18, "A renewal of chain \(chain) extends it."), end]
    case .billingRetry:
      return [Decision(18, "A retried charge that succeeds renews chain \(chain).")]
    case .expired where verdict.outcome.notices.contains(.renewalOverdue):
      return [Decision(18, "The overdue renewal of chain \(chain) makes it active, if it comes.")]
    case .revoked where !transaction.isShared:
      return [
        Decision(16, "If the refund of transaction \(id) is reversed, its time counts again.")
      ]
    case .upcoming: return [end]
    case .expired, .revoked, .consumed, .undetermined: return []
    }
  }

  private func changes(
    of window: OneTimePurchases.Window, in situation: Situation
  ) -> [Decision] {
    let transaction = situation.table.transaction(window.fact)
    let id = transaction.transactionID.name
    let product = transaction.productID
    switch window.outcome(at: situation.now) {
    case (.active, _), (.upcoming, _):
      let end = Decision(16, "A refund of transaction \(id) ends it.")
      guard window.end != nil else { return [end] }
      let stacks = catalog.products[product]?.stacking == true
      let further =
        stacks
        ? Decision(13, "A further purchase of \(product.name) is added at its end.")
        : Decision(11, "A further purchase of \(product.name) runs from its own date.")
      return [further, end]
    case (.revoked, _):
      return [Decision(16, "If the refund of transaction \(id) is reversed, it counts again.")]
    case (.undetermined, 12):
      return [Decision(12, "A duration of \(product.name) in the catalog gives it an end.")]
    default: return []
    }
  }

  private func changes(of verdict: GrandfatheringVerdict) -> [Decision] {
    switch verdict.state.outcome {
    case .granted:
      return [Decision(37, "An app transaction that tells otherwise, or another rule, changes it.")]
    case .notEvaluated:
      return [Decision(35, "Simulated values in the catalog let the rule be tried.")]
    case .unknown where verdict.state.reason != .noAppTransaction:
      return [Decision(33, "An app transaction with a version or date lets the rule decide.")]
    case .unknown, .denied: return []
    }
  }
}

extension CatalogProduct {
  /// Whether a purchase now gives access: the product renews, has no end, or has a duration (R11,
  /// R12).
  fileprivate var givesAccess: Bool {
    switch kind {
    case .autoRenewable, .nonConsumable: true
    case .nonRenewing, .consumable: duration != nil
    }
  }
}
