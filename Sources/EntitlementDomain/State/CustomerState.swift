/// The answer: what a customer may use at a moment, and what to offer (R27–R31). A pure function
/// of facts, catalog and moment.
public struct CustomerState: Hashable, Sendable {
  public var scope: AppScope
  /// Nil when the facts belong to chains that no account has claimed yet.
  public var accountID: AccountID?
  /// Grows with each change of the customer's facts or links; 0 when nothing is known.
  public var revision: Int64
  /// The moment this state was computed for.
  public var evaluatedAt: Milliseconds
  public var coreState: CoreState
  /// What to suggest to the customer, most urgent first, each once; `[.none]` when nothing.
  public var callsToAction: [CallToAction]
  /// What the customer may use now, by entitlement id.
  public var entitlements: [EntitlementState]
  /// Each product of which there is a fact, by product id.
  public var products: [ProductState]
  /// Each subscription group of which there is a fact, by group id.
  public var groups: [GroupState]
  /// Each grandfathering rule of the app, by rule id (R33–R39).
  public var grandfathering: [GrandfatheringState]
  /// The earliest later moment at which this answer changes without new facts (R30).
  public var nextTransitionAt: Milliseconds?

  public init(
    scope: AppScope, accountID: AccountID?, revision: Int64, evaluatedAt: Milliseconds,
    coreState: CoreState, callsToAction: [CallToAction], entitlements: [EntitlementState],
    products: [ProductState], groups: [GroupState], grandfathering: [GrandfatheringState] = [],
    nextTransitionAt: Milliseconds?
  ) {
    self.scope = scope
    self.accountID = accountID
    self.revision = revision
    self.evaluatedAt = evaluatedAt
    self.coreState = coreState
    self.callsToAction = callsToAction
    self.entitlements = entitlements
    self.products = products
    self.groups = groups
    self.grandfathering = grandfathering
    self.nextTransitionAt = nextTransitionAt
  }
}

/// R27. Raw values are those of the wire.
public enum CoreState: Int, Hashable, Sendable, CaseIterable {
  /// No fact at all for this customer in this environment.
  case new = 1
  /// Something confers access now, grace included.
  case active = 2
  /// Facts exist, nothing confers access.
  case inactive = 3
}

/// What to suggest to the customer (R29). Raw values are those of the wire.
public enum CallToAction: Int, Hashable, Sendable, CaseIterable {
  case none = 1
  case merchandise = 2
  case fixBilling = 3
  case winBack = 4
  case consentToPrice = 5
  case keepSubscription = 6
}

/// One product of which there is a fact.
public struct ProductState: Hashable, Sendable {
  public var productID: ProductID
  /// The subscription group, for an auto-renewable product.
  public var groupID: SubscriptionGroupID?
  /// False when the catalog does not name the product: it then confers nothing (R14).
  public var isInCatalog: Bool
  public var standing: Standing

  public init(
    productID: ProductID, groupID: SubscriptionGroupID?, isInCatalog: Bool, standing: Standing
  ) {
    self.productID = productID
    self.groupID = groupID
    self.isInCatalog = isInCatalog
    self.standing = standing
  }
}

/// One subscription group: the best over all its chains (R28).
public struct GroupState: Hashable, Sendable {
  public var groupID: SubscriptionGroupID
  public var standing: Standing
  /// A free trial of this group was used (R29).
  public var trialUsed: Bool
  /// An introductory offer of any kind of this group was used (R29).
  public var introductoryOfferUsed: Bool

  public init(
    groupID: SubscriptionGroupID, standing: Standing, trialUsed: Bool, introductoryOfferUsed: Bool
  ) {
    self.groupID = groupID
    self.standing = standing
    self.trialUsed = trialUsed
    self.introductoryOfferUsed = introductoryOfferUsed
  }
}

/// An entitlement that is conferred now, with everything that confers it (R31).
public struct EntitlementState: Hashable, Sendable {
  public var entitlementID: EntitlementID
  /// At least one, in a fixed order: latest end first; then purchases by transaction id, grants by
  /// id, and grandfathering rules by id.
  public var sources: [EntitlementSource]

  public init(entitlementID: EntitlementID, sources: [EntitlementSource]) {
    self.entitlementID = entitlementID
    self.sources = sources
  }
}

/// What confers an entitlement, since when and until when (R31).
public struct EntitlementSource: Hashable, Sendable {
  public enum Origin: Hashable, Sendable {
    case purchase(TransactionID, chain: OriginalTransactionID, product: ProductID)
    /// R32.
    case grant(GrantID)
    /// R39.
    case grandfathering(GrandfatheringRuleID)
  }

  public var origin: Origin
  public var since: Milliseconds
  /// Nil when it has no end.
  public var until: Milliseconds?
  /// What stands behind the purchase, or behind what the grandfathering rule went by (R51): the
  /// weaker where a renewal info has a say, too. Nil for a grant, and for a rule whose values the
  /// catalog simulates.
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
