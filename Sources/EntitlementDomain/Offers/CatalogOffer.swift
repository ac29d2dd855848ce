/// An offer of a product, and the policy of the business: who may have it (R82–R84). The offer itself,
/// with its price and duration, is set up in App Store Connect.
package struct CatalogOffer: Hashable, Sendable {
  /// Nil for an introductory offer: Apple gives it no identifier, and applies that of the product.
  package var id: OfferID?
  package var kind: OfferKind
  /// The situations of customers who may have it; at least one.
  package var situations: Set<OfferSituation>
  /// The shortest time since the end of access, for customers without it; nil: none.
  package var lapsedFor: CalendarDuration?
  /// Whether a customer who has used a free trial of the group may not have it.
  package var onlyIfTrialUnused: Bool
  /// How often a customer may have it; nil: without a limit. Of no meaning for an introductory offer,
  /// which Apple gives once for each group.
  package var times: Int?
  /// The shortest time since it was used last; nil: none.
  package var againAfter: CalendarDuration?
  /// What callers may say against the verdict on an introductory offer (R84).
  package var overrides: Set<OfferOverride>

  package init(
    id: OfferID? = nil, kind: OfferKind, situations: Set<OfferSituation>,
    lapsedFor: CalendarDuration? = nil, onlyIfTrialUnused: Bool = false, times: Int? = 1,
    againAfter: CalendarDuration? = nil, overrides: Set<OfferOverride> = []
  ) {
    self.id = id
    self.kind = kind
    self.situations = situations
    self.lapsedFor = lapsedFor
    self.onlyIfTrialUnused = onlyIfTrialUnused
    self.times = times
    self.againAfter = againAfter
    self.overrides = overrides
  }

  /// In a catalog: an answer with all offers fits a message. Apple allows ten active promotional
  /// offers for each subscription ("Setting up promotional offers").
  package static let maximumCount = 1_000
  package static let maximumTimes = 1_000
}

/// The offers that a server decides about. Raw values are the numbers on the wire.
public enum OfferKind: Int, Hashable, Sendable, CaseIterable {
  /// For customers who have or had a subscription; each needs a signature.
  case promotional = 1
  /// For the first time in a subscription group. Apple decides, unless a signature decides for it.
  case introductory = 2
}

/// The situation of a customer in a subscription group (R82). Raw values are the numbers on the wire.
public enum OfferSituation: Int, Hashable, Sendable, CaseIterable {
  /// No subscription of the group was ever bought.
  case new = 1
  /// A subscription is in force, and nothing says that it will not renew.
  case active = 2
  /// A subscription is in force, and will not renew.
  case cancelled = 3
  /// A renewal could not be charged: in grace, or in billing retry.
  case inBillingTrouble = 4
  /// The last subscription has expired.
  case lapsed = 5
  /// The last subscription was refunded.
  case refunded = 6

  /// The word of the catalog file.
  package var name: String {
    switch self {
    case .new: "new"
    case .active: "active"
    case .cancelled: "cancelled"
    case .inBillingTrouble: "in_billing_trouble"
    case .lapsed: "lapsed"
    case .refunded: "refunded"
    }
  }

  /// Whether a subscription was bought and gives no access any more.
  package var hasLapsed: Bool { self == .lapsed || self == .refunded }
}

/// What a caller may say against the verdict on an introductory offer (R84). Raw values are the words
/// of the catalog file.
package enum OfferOverride: String, Hashable, Sendable, CaseIterable {
  /// The customer may have the offer, though it was used before, or the policy does not give it.
  case allow
  /// The customer may not have the offer, though nothing speaks against it.
  case deny
}
