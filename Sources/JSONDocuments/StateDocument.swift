package import EntitlementDomain

/// A customer's state in JSON: the fields of `entitle.v1.CustomerState`, by the same names; what is
/// absent is left out.
package struct StateDocument: Encodable {
  let bundleId: String
  let environment: String
  let accountId: String?
  let revision: Int64
  let evaluatedAtMs: Int64
  let coreState: String
  let callsToAction: [String]
  let entitlements: [Entitlement]
  let products: [Product]
  let groups: [Group]
  let grandfathering: [Grandfathering]
  let nextTransitionAtMs: Int64?

  struct Entitlement: Encodable {
    let entitlementId: String
    let sources: [Source]
  }

  /// One of a purchase, a grant and a grandfathering rule.
  struct Source: Encodable {
    var transactionId: String?
    var originalTransactionId: String?
    var productId: String?
    var grantId: String?
    var grandfatheringRuleId: String?
    let sinceMs: Int64
    let untilMs: Int64?
    let evidence: String?

    init(_ source: EntitlementSource) {
      sinceMs = source.since.rawValue
      untilMs = source.until?.rawValue
      evidence = source.evidence?.evidenceName
      switch source.origin {
      case .purchase(let transaction, let chain, let product):
        transactionId = transaction.rawValue
        originalTransactionId = chain.rawValue
        productId = product.rawValue
      case .grant(let id):
        grantId = id.rawValue
      case .grandfathering(let id):
        grandfatheringRuleId = id.rawValue
      }
    }
  }

  struct Grandfathering: Encodable {
    let ruleId: String
    let outcome: String
    let reason: String
    let flagged: Bool
    let appTransactionId: String?
  }

  struct Product: Encodable {
    let productId: String
    let groupId: String?
    let inCatalog: Bool
    let standing: StandingDocument
  }

  struct Group: Encodable {
    let groupId: String
    let standing: StandingDocument
    let trialUsed: Bool
    let introductoryOfferUsed: Bool
  }

  package init(_ state: CustomerState) {
    bundleId = state.scope.bundleID.rawValue
    environment = state.scope.environment.rawValue
    accountId = state.accountID?.rawValue
    revision = state.revision
    evaluatedAtMs = state.evaluatedAt.rawValue
    coreState = wireName(state.coreState)
    callsToAction = state.callsToAction.map { wireName($0) }
    entitlements = state.entitlements.map { entitlement in
      Entitlement(
        entitlementId: entitlement.entitlementID.rawValue,
        sources: entitlement.sources.map { Source($0) })
    }
    products = state.products.map { product in
      Product(
        productId: product.productID.rawValue, groupId: product.groupID?.rawValue,
        inCatalog: product.isInCatalog, standing: StandingDocument(product.standing))
    }
    groups = state.groups.map { group in
      Group(
        groupId: group.groupID.rawValue, standing: StandingDocument(group.standing),
        trialUsed: group.trialUsed, introductoryOfferUsed: group.introductoryOfferUsed)
    }
    grandfathering = state.grandfathering.map { rule in
      Grandfathering(
        ruleId: rule.ruleID.rawValue, outcome: wireName(rule.outcome),
        reason: wireName(rule.reason), flagged: rule.isFlagged,
        appTransactionId: rule.appTransactionID?.rawValue)
    }
    nextTransitionAtMs = state.nextTransitionAt?.rawValue
  }
}
