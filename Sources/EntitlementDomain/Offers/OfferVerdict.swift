/// Whether a customer may have an offer at a moment, and if not, why (R82–R84).
package struct OfferVerdict: Hashable, Sendable {
  package let productID: ProductID
  package let offer: CatalogOffer
  /// Nil when the state of the group cannot be determined.
  package let situation: OfferSituation?
  /// How often the customer has had this promotional offer, a redemption that begins at the next
  /// renewal included (R83); 0 for an introductory offer.
  package let uses: Int
  /// Nil: the customer may have it.
  package let refusal: OfferRefusal?
  /// When time alone makes an end of ``refusal``; nil when it does not.
  package let eligibleAt: Milliseconds?

  package var isEligible: Bool { refusal == nil }

  /// The rule that decided.
  package var rule: Int {
    refusal?.rule ?? (offer.kind == .introductory ? 84 : 82)
  }

  /// One sentence in English, without ids of the customer.
  package var sentence: String {
    switch refusal {
    case nil: "the customer may have the offer"
    case .neverSubscribed:
      "the customer never had a subscription of this app, and Apple gives promotional offers to "
        + "present and former subscribers only"
    case .familyShared:
      "the customer has the subscription by family sharing or an assignment, and did not buy it"
    case .undetermined: "the state of the subscription cannot be determined"
    case .situation:
      "the offer is for customers who are \(Self.list(offer.situations)), and the customer is "
        + (situation?.name ?? "none of these")
    case .lapsedTooRecently: "the subscription ended too recently for this offer"
    case .trialUsed: "the customer has used a free trial of this subscription group"
    case .usedUp:
      "the customer has had the offer \(uses == 1 ? "once" : "\(uses) times"), as often as allowed"
    case .usedTooRecently: "the customer had the offer too recently"
    case .introductoryOfferUsed:
      "the customer has used an introductory offer of this subscription group, which Apple gives once"
    case .subscribed:
      "the customer has a subscription of this group, and Apple gives no introductory offer to "
        + "present subscribers"
    }
  }

  private static func list(_ situations: Set<OfferSituation>) -> String {
    let names = situations.sorted { $0.rawValue < $1.rawValue }.map(\.name)
    guard names.count > 1, let last = names.last else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " or " + last
  }
}

/// Why a customer may not have an offer. Raw values are the numbers on the wire.
public enum OfferRefusal: Int, Hashable, Sendable, CaseIterable {
  /// No subscription of the app was ever bought: Apple gives such a customer no promotional offer
  /// (R82).
  case neverSubscribed = 1
  /// A subscription of the group is in force that another person bought (R82).
  case familyShared = 2
  /// The facts of the subscription do not tell its state (R82).
  case undetermined = 3
  /// The offer is for customers in other situations (R82).
  case situation = 4
  /// Access ended too recently (R82).
  case lapsedTooRecently = 5
  /// A free trial of the group was used (R83).
  case trialUsed = 6
  /// The offer was used as often as the catalog allows (R83).
  case usedUp = 7
  /// The offer was used too recently (R83).
  case usedTooRecently = 8
  /// An introductory offer of the group was used (R84).
  case introductoryOfferUsed = 9
  /// A subscription of the group is in force, or is being charged (R84).
  case subscribed = 10

  /// As on the wire and in the names of counters.
  package var name: String {
    switch self {
    case .neverSubscribed: "NEVER_SUBSCRIBED"
    case .familyShared: "FAMILY_SHARED"
    case .undetermined: "UNDETERMINED"
    case .situation: "SITUATION"
    case .lapsedTooRecently: "LAPSED_TOO_RECENTLY"
    case .trialUsed: "TRIAL_USED"
    case .usedUp: "USED_UP"
    case .usedTooRecently: "USED_TOO_RECENTLY"
    case .introductoryOfferUsed: "INTRODUCTORY_OFFER_USED"
    case .subscribed: "SUBSCRIBED"
    }
  }

  package var rule: Int {
    switch self {
    case .neverSubscribed, .familyShared, .undetermined, .situation, .lapsedTooRecently: 82
    case .trialUsed, .usedUp, .usedTooRecently: 83
    case .introductoryOfferUsed, .subscribed: 84
    }
  }

  /// Whether a caller whom the catalog lets override may set it aside. Nothing makes a present
  /// subscriber a new one, and what is not known is not overridden (R84).
  package var mayBeOverridden: Bool {
    switch self {
    case .situation, .lapsedTooRecently, .trialUsed, .introductoryOfferUsed: true
    case .neverSubscribed, .familyShared, .undetermined, .usedUp, .usedTooRecently, .subscribed:
      false
    }
  }
}
