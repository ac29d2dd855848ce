import EntitlementDomain

/// Finds contradictions between the parts of a state.
struct StateCheck {
  let state: CustomerState
  let customer: RandomCustomer
  let now: Milliseconds

  /// Nil when all parts agree.
  var firstFault: String? {
    coreStateFault ?? callsFault
      ?? state.entitlements.lazy.compactMap(fault(of:)).first
      ?? state.products.lazy.compactMap(fault(of:)).first
      ?? state.groups.lazy.compactMap { fault(of: $0.standing) }.first
      ?? orderFault
  }

  /// R27.
  private var coreStateFault: String? {
    let hasActiveProduct = state.products.contains {
      $0.isInCatalog && $0.standing.coreState == .active
    }
    let hasOther = state.entitlements.flatMap(\.sources).contains { source in
      if case .purchase = source.origin { false } else { true }
    }
    let isGrandfathered = grantedRules.contains { $0.entitlements.isEmpty }
    // R27: an app transaction is no purchase.
    let hasFacts = customer.record.facts.contains {
      $0.scope == customer.record.scope && $0.kind != .appTransaction
    }
    let isActive = hasActiveProduct || hasOther
    switch state.coreState {
    case .active: return isActive || isGrandfathered ? nil : "ACTIVE by nothing"
    case .inactive: return isActive || !hasFacts ? "INACTIVE" : nil
    case .new: return isActive || hasFacts ? "NEW" : nil
    }
  }

  private var grantedRules: [GrandfatheringRule] {
    let granted = Set(state.grandfathering.filter { $0.outcome == .granted }.map(\.ruleID))
    let rules = customer.catalog.grandfathering[state.scope.bundleID] ?? []
    return rules.filter { granted.contains($0.id) }
  }

  private var callsFault: String? {
    let calls = state.callsToAction
    if calls == [.none] { return nil }
    return calls.isEmpty || calls.contains(.none) || Set(calls).count != calls.count
      ? "calls \(calls)" : nil
  }

  /// R31.
  private func fault(of entitlement: EntitlementState) -> String? {
    let sources = entitlement.sources
    if sources.isEmpty { return "\(entitlement.entitlementID) by nothing" }
    if Set(sources.map(\.origin)).count != sources.count { return "a source named twice" }
    let ends = sources.map { $0.until ?? Milliseconds(.max) }
    if ends != ends.sorted(by: >) { return "sources out of order" }
    return sources.lazy.compactMap { fault(of: $0, entitlement.entitlementID) }.first
  }

  private func fault(of source: EntitlementSource, _ entitlement: EntitlementID) -> String? {
    if source.since > now { return "\(source.origin) is yet to confer" }
    if let until = source.until, until <= now { return "\(source.origin) ended" }
    if source.evidence != evidence(of: source) {
      return "\(source.origin) rests on \(String(describing: source.evidence))"
    }
    switch source.origin {
    case .purchase(_, _, let product):
      let state = state.products.first { $0.productID == product }
      if state?.standing.coreState != .active { return "inactive \(product) confers" }
      let conferred = customer.catalog.products[product]?.entitlements ?? []
      return conferred.contains(entitlement) ? nil : "\(product) confers \(entitlement)"
    case .grant(let id):
      let grant = customer.record.grants.first { $0.id == id && $0.scope == state.scope }
      return grant?.entitlementID == entitlement ? nil : "grant \(id) confers \(entitlement)"
    case .grandfathering(let id):
      let rule = grantedRules.first { $0.id == id }
      return rule?.entitlements.contains(entitlement) == true
        ? nil : "rule \(id) confers \(entitlement)"
    }
  }

  /// The authority of a source (R51): the lower one of the standing facts that decide.
  private func evidence(of source: EntitlementSource) -> FactAuthority? {
    switch source.origin {
    case .purchase(let id, let chain, let product):
      guard let fact = customer.standingTransaction(id) else { return nil }
      let standing = state.products.first { $0.productID == product }?.standing
      let end = fact.expiresDate ?? fact.purchaseDate
      guard standing?.productType == .autoRenewable, end <= now else { return fact.authority }
      // After the period's end, the renewal info extends access (R19, R24).
      return authority(
        of: FactKey(kind: .renewalInfo, identifier: chain.rawValue)
      ).map { min($0, fact.authority) }
    case .grant:
      return nil
    case .grandfathering(let id):
      // Outside Production values are simulated (R35).
      guard state.scope.environment == .production else { return nil }
      let decided = state.grandfathering.first { $0.ruleID == id }?.appTransactionID
      return decided.flatMap {
        authority(of: FactKey(kind: .appTransaction, identifier: $0.rawValue))
      }
    }
  }

  /// The authority of the standing version of a fact.
  private func authority(of key: FactKey) -> FactAuthority? {
    let versions = customer.record.facts.filter {
      $0.key == key && $0.scope == customer.record.scope
    }
    return versions.max { $0.precedence < $1.precedence }?.authority
  }

  /// R14: an active product confers all its entitlements of the catalog.
  private func fault(of product: ProductState) -> String? {
    let known = customer.catalog.products[product.productID]
    if (known != nil) != product.isInCatalog { return "\(product.productID) in the catalog" }
    if let fault = fault(of: product.standing) { return fault }
    guard product.standing.coreState == .active, let known else { return nil }
    let missing = known.entitlements.first { id in
      !state.entitlements.contains { $0.entitlementID == id }
    }
    return missing.map { "active \(product.productID) does not confer \($0)" }
  }

  private func fault(of standing: Standing) -> String? {
    let isActive = standing.status == .active || standing.status == .grace
    if (standing.coreState == .active) != isActive { return "\(standing.status) and core state" }
    if standing.coreState == .new { return "a product that is NEW" }
    if (standing.expirationReason != nil) != (standing.status == .expired) { return "a reason" }
    if (standing.graceEnd != nil) != (standing.status == .grace) { return "a grace end" }
    if let date = standing.revocation?.date, date > now { return "a revocation to come" }
    if standing.status == .revoked, standing.revocation == nil { return "no revocation" }
    if standing.notices != standing.notices.sorted(by: { $0.rawValue < $1.rawValue }) {
      return "notices out of order"
    }
    // Only who bought it can pay (R25).
    let isOwn = standing.ownership != .familyShared && standing.ownership != .assigned
    let isPayable = standing.status == .grace || standing.status == .billingRetry
    return (standing.callToAction == .fixBilling) == (isPayable && isOwn)
      ? nil : "call to fix billing"
  }

  private var orderFault: String? {
    let isOrdered =
      isStrictlyAscending(state.entitlements.map(\.entitlementID))
      && isStrictlyAscending(state.products.map(\.productID))
      && isStrictlyAscending(state.groups.map(\.groupID))
      && isStrictlyAscending(state.grandfathering.map(\.ruleID))
    return isOrdered ? nil : "a list out of order"
  }

  private func isStrictlyAscending<Kind>(_ ids: [Identifier<Kind>]) -> Bool {
    zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
  }
}
