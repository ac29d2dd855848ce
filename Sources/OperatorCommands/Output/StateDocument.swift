import EntitlementDomain

/// A customer's state in JSON: the fields of `entitle.v1.CustomerState`, by the same names; what is
/// absent is left out.
struct StateDocument: Encodable {
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
  let nextTransitionAtMs: Int64?

  struct Entitlement: Encodable {
    let entitlementId: String
    let sources: [Source]
  }

  struct Source: Encodable {
    let transactionId: String
    let originalTransactionId: String
    let productId: String
    let sinceMs: Int64
    let untilMs: Int64?
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

  init(_ state: CustomerState) {
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
        sources: entitlement.sources.map { source in
          Source(
            transactionId: source.transactionID.rawValue,
            originalTransactionId: source.originalTransactionID.rawValue,
            productId: source.productID.rawValue, sinceMs: source.since.rawValue,
            untilMs: source.until?.rawValue)
        })
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
    nextTransitionAtMs = state.nextTransitionAt?.rawValue
  }
}
