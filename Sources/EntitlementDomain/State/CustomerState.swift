/// The answer of an evaluation: the entitlements of a customer at a moment, with the state of each
/// product and group (R27–R31).
public struct CustomerState: Hashable, Sendable {
  /// The app and environment.
  public var scope: AppScope
  /// Nil for unlinked chains.
  public var accountID: AccountID?
  /// The number of the customer's latest change, which grows with each; 0 when nothing is known.
  public var revision: Int64
  /// The moment for which the state was computed.
  public var evaluatedAt: Milliseconds
  /// The earliest later moment at which this answer changes without new facts (R30).
  public var nextTransitionAt: Milliseconds?
  /// Whether anything confers access now (R27).
  public var coreState: CoreState
  /// The suggestions for the customer, without duplicates, the most urgent first; `[.none]` when
  /// there are none.
  public var callsToAction: [CallToAction]
  /// The entitlements that the customer has now, sorted by id.
  public var entitlements: [EntitlementState]
  /// The products that occur in a fact, sorted by id.
  public var products: [ProductState]
  /// The subscription groups that occur in a fact, sorted by id.
  public var groups: [GroupState]
  /// The results of the app's grandfathering rules, sorted by rule id (R33–R39).
  public var grandfathering: [GrandfatheringState]
}

// In an extension, and with the arguments in another order than the fields: so the compiler makes an
// initializer too, which evaluation uses. One that sets field after field copies all of them at the end.
extension CustomerState {
  public init(
    scope: AppScope, accountID: AccountID?, revision: Int64, evaluatedAt: Milliseconds,
    coreState: CoreState, callsToAction: [CallToAction], entitlements: [EntitlementState],
    products: [ProductState], groups: [GroupState], grandfathering: [GrandfatheringState] = [],
    nextTransitionAt: Milliseconds?
  ) {
    self.init(
      scope: scope, accountID: accountID, revision: revision, evaluatedAt: evaluatedAt,
      nextTransitionAt: nextTransitionAt, coreState: coreState, callsToAction: callsToAction,
      entitlements: entitlements, products: products, groups: groups,
      grandfathering: grandfathering)
  }
}

/// R27. Raw values are the numbers on the wire.
public enum CoreState: Int, Hashable, Sendable, CaseIterable {
  /// Neither a transaction nor a renewal info of this customer is known in this environment, and
  /// nothing confers access.
  case new = 1
  /// Something confers access now; this includes grace.
  case active = 2
  /// Purchases are known, and nothing confers access now.
  case inactive = 3
}

/// A suggestion for the customer (R29). Raw values are the numbers on the wire.
public enum CallToAction: Int, Hashable, Sendable, CaseIterable {
  /// Nothing to suggest.
  case none = 1
  /// Show the standard and introductory offers: there is no purchase yet.
  case merchandise = 2
  /// Ask for other payment details: a renewal could not be charged.
  case fixBilling = 3
  /// Show win-back offers: the purchase has expired or was refunded.
  case winBack = 4
  /// Ask for consent to a price increase.
  case consentToPrice = 5
  /// Ask the customer to stay: the subscription will not renew.
  case keepSubscription = 6
}

/// The state of one product that occurs in a fact.
public struct ProductState: Hashable, Sendable {
  /// The product.
  public var productID: ProductID
  /// Whether the catalog has the product. A product that is not in the catalog confers nothing
  /// (R14).
  public var isInCatalog: Bool
  /// The subscription group, for an auto-renewable product.
  public var groupID: SubscriptionGroupID?
  /// The status of the product at the moment of the state.
  public var standing: Standing
}

// As of ``CustomerState``.
extension ProductState {
  public init(
    productID: ProductID, groupID: SubscriptionGroupID?, isInCatalog: Bool, standing: Standing
  ) {
    self.init(
      productID: productID, isInCatalog: isInCatalog, groupID: groupID, standing: standing)
  }
}

/// The state of one subscription group: the best standing of its chains (R28).
public struct GroupState: Hashable, Sendable {
  /// The subscription group.
  public var groupID: SubscriptionGroupID
  /// Whether a free trial of this group was used (R29).
  public var trialUsed: Bool
  /// Whether any introductory offer of this group was used (R29).
  public var introductoryOfferUsed: Bool
  /// The status of the group at the moment of the state.
  public var standing: Standing
}

// As of ``CustomerState``.
extension GroupState {
  public init(
    groupID: SubscriptionGroupID, standing: Standing, trialUsed: Bool, introductoryOfferUsed: Bool
  ) {
    self.init(
      groupID: groupID, trialUsed: trialUsed, introductoryOfferUsed: introductoryOfferUsed,
      standing: standing)
  }
}

/// An entitlement that is conferred now, with all its sources (R31).
public struct EntitlementState: Hashable, Sendable {
  /// The entitlement, by its name in the catalog.
  public var entitlementID: EntitlementID
  /// At least one source. The order is the latest end first; then purchases by transaction id,
  /// grants by id, and grandfathering rules by id.
  public var sources: [EntitlementSource]

  public init(entitlementID: EntitlementID, sources: [EntitlementSource]) {
    self.entitlementID = entitlementID
    self.sources = sources
  }
}

/// A source that confers an entitlement, with its start and end (R31).
public struct EntitlementSource: Hashable, Sendable {
  /// The kinds of sources.
  public enum Origin: Hashable, Sendable {
    /// A transaction of a chain, and its product.
    case purchase(TransactionID, chain: OriginalTransactionID, product: ProductID)
    /// R32.
    case grant(GrantID)
    /// R39.
    case grandfathering(GrandfatheringRuleID)
  }

  /// The purchase, grant or grandfathering rule that confers it.
  public var origin: Origin
  /// When it began to confer the entitlement.
  public var since: Milliseconds
  /// The first moment at which its chain, its stack of purchases, its grant or its rule stops
  /// conferring the entitlement, as far as the facts say (R58). Nil when the source has no end.
  public var until: Milliseconds?
  /// The authority of the purchase, or of the app transaction that decided a grandfathering rule
  /// (R51). If a renewal info also decides, the lower of both. Nil for a grant, and for a rule with
  /// simulated values.
  public var evidence: FactAuthority?

  public init(
    origin: Origin, since: Milliseconds, until: Milliseconds?, evidence: FactAuthority? = nil
  ) {
    self.origin = origin
    self.since = since
    self.until = until
    self.evidence = evidence
  }
}
