/// Decides which offers a customer may have (R82–R84): a pure function of the customer's facts, the
/// catalog and the moment, as the state is. So the order in which facts arrived does not matter (R3).
///
/// Apple's part is from "Implementing promotional offers in your app" (all customers with an existing
/// or expired subscription in the app are eligible) and "Implementing introductory offers in your app"
/// (new and lapsed subscribers without an introductory offer in the group; never present ones). The
/// rest is the policy of the catalog.
package struct OfferEligibility: Sendable {
  /// The state by the purchases of the customer, without those of others.
  private let own: CustomerState
  /// The groups in which something that others bought confers access.
  private let sharedGroups: Set<SubscriptionGroupID>
  private let uses: OfferUses
  private let now: Milliseconds

  /// Evaluates a customer, for all offers.
  ///
  /// - Parameter isCancelled: is called on the same thread now and then.
  /// - Returns: nil if `isCancelled` returned true.
  package init?(
    of record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    isCancelled: @escaping () -> Bool = { false }
  ) {
    let purchases = record.withoutPurchasesOfOthers
    let evaluate = { record in
      Evaluation.evaluate(record, catalog: catalog, at: now, isCancelled: isCancelled)?.state
    }
    guard let own = evaluate(purchases ?? record) else { return nil }
    var sharedGroups: Set<SubscriptionGroupID> = []
    if purchases != nil {
      guard let all = evaluate(record) else { return nil }
      for group in all.groups where group.standing.coreState == .active {
        if group.standing.ownership?.isOfAnother == true { sharedGroups.insert(group.groupID) }
      }
    }
    self.own = own
    self.sharedGroups = sharedGroups
    self.now = now
    uses = OfferUses(of: purchases ?? record, until: now)
  }

  /// The verdict on an offer of a product.
  package func verdict(on offer: CatalogOffer, of product: CatalogProduct) -> OfferVerdict {
    let group = product.group.flatMap { id in own.groups.first { $0.groupID == id } }
    let situation = Self.situation(in: group)
    let used = offer.id.map { uses.count(of: $0) + pendingUses(of: $0) } ?? 0
    let (refusal, eligibleAt) = decision(offer, product, group, situation, used)
    return OfferVerdict(
      productID: product.id, offer: offer, situation: situation, uses: used, refusal: refusal,
      eligibleAt: eligibleAt)
  }

  private func decision(
    _ offer: CatalogOffer, _ product: CatalogProduct, _ group: GroupState?,
    _ situation: OfferSituation?, _ used: Int
  ) -> (OfferRefusal?, Milliseconds?) {
    if let id = product.group, sharedGroups.contains(id) { return (.familyShared, nil) }
    guard let situation else { return (.undetermined, nil) }
    switch offer.kind {
    case .promotional:
      if !hasSubscribed { return (.neverSubscribed, nil) }
    case .introductory:
      if [.active, .cancelled, .inBillingTrouble].contains(situation) { return (.subscribed, nil) }
      if group?.introductoryOfferUsed == true { return (.introductoryOfferUsed, nil) }
    }
    if !offer.situations.contains(situation) { return (.situation, nil) }
    if offer.onlyIfTrialUnused, group?.trialUsed == true { return (.trialUsed, nil) }
    if offer.kind == .promotional, let times = offer.times, used >= times { return (.usedUp, nil) }
    return decisionInTime(offer, group, situation)
  }

  /// What time alone ends comes last: another reason would still hold then.
  private func decisionInTime(
    _ offer: CatalogOffer, _ group: GroupState?, _ situation: OfferSituation
  ) -> (OfferRefusal?, Milliseconds?) {
    var refusal: OfferRefusal?
    var eligibleAt: Milliseconds?
    if let id = offer.id, let pause = offer.againAfter {
      if pendingUses(of: id) > 0 { return (.usedTooRecently, nil) }
      if let last = uses.last(of: id), now < pause.end(from: last) {
        (refusal, eligibleAt) = (.usedTooRecently, pause.end(from: last))
      }
    }
    if situation.hasLapsed, let pause = offer.lapsedFor, let end = group?.standing.accessEnd,
      now < pause.end(from: end)
    {
      let moment = pause.end(from: end)
      (refusal, eligibleAt) = (.lapsedTooRecently, max(moment, eligibleAt ?? moment))
    }
    return (refusal, eligibleAt)
  }

  /// Whether any subscription of the app was bought. Apple asks for one in the app, of any group.
  private var hasSubscribed: Bool {
    own.products.contains {
      $0.standing.productType == .autoRenewable && $0.standing.status != .upcoming
    }
  }

  /// Redemptions whose first period is still to come: an offer for the subscription that a customer
  /// has begins at the next renewal.
  private func pendingUses(of id: OfferID) -> Int {
    own.groups.count { group in
      let (present, next) = (group.standing.offer, group.standing.renewalOffer)
      return next?.isPromotional(id) == true && present?.isPromotional(id) != true
    }
  }

  /// - Returns: nil when the state of the group cannot be determined.
  private static func situation(in group: GroupState?) -> OfferSituation? {
    guard let standing = group?.standing else { return .new }
    if standing.notices.contains(.expiresDateMissing) { return nil }
    switch standing.status {
    case .active: return standing.willRenew == false ? .cancelled : .active
    case .grace, .billingRetry: return .inBillingTrouble
    case .expired: return .lapsed
    case .revoked: return .refunded
    // Bought for later. There is no earlier purchase, which would decide the group.
    case .upcoming: return .active
    case .replaced, .consumed, .undetermined: return nil
    }
  }
}

/// How often a customer has had each promotional offer, and when last (R83): by transactions with
/// `offerType` 2 and its `offerIdentifier`, so that it can be proved.
struct OfferUses: Sendable {
  private struct Use {
    var count = 0
    var last: Milliseconds
  }

  private var uses: [OfferID: Use] = [:]

  init(of record: CustomerRecord, until now: Milliseconds) {
    var chains: [OriginalTransactionID: [String: TransactionFact]] = [:]
    for fact in record.standingTransactions.values where fact.purchaseDate <= now {
      // One line item is one period (R6).
      let period =
        fact.webOrderLineItemID.map { "w" + $0.rawValue } ?? "t" + fact.transactionID.rawValue
      let known = chains[fact.originalTransactionID]?[period]
      if let known, known.precedence >= fact.precedence { continue }
      chains[fact.originalTransactionID, default: [:]][period] = fact
    }
    for periods in chains.values {
      let inOrder = periods.values.sorted {
        ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID)
      }
      var previous: Offer?
      for fact in inOrder {
        if let offer = fact.offer, let id = offer.promotionalID {
          add(id, at: fact.purchaseDate, continues: offer.continues(previous))
        }
        previous = fact.offer
      }
    }
  }

  private mutating func add(_ id: OfferID, at moment: Milliseconds, continues: Bool) {
    var use = uses[id] ?? Use(last: moment)
    if !continues || use.count == 0 { use.count += 1 }
    use.last = max(use.last, moment)
    uses[id] = use
  }

  func count(of id: OfferID) -> Int { uses[id]?.count ?? 0 }

  /// The start of the last period under the offer.
  func last(of id: OfferID) -> Milliseconds? { uses[id]?.last }
}

extension Offer {
  /// The identifier of a promotional offer; nil for other offers.
  fileprivate var promotionalID: OfferID? {
    type == .promotional ? identifier.map { OfferID($0) } : nil
  }

  fileprivate func isPromotional(_ id: OfferID) -> Bool { promotionalID == id }

  /// Whether a period with this offer belongs to the redemption of the period before it. An offer
  /// that is paid as you go has several periods; others have one. Without a discount type, as in
  /// older payloads, it counts as one that has several: nobody is refused for a use that was none.
  fileprivate func continues(_ previous: Offer?) -> Bool {
    guard let previous, previous.promotionalID == promotionalID else { return false }
    return discountType == nil || discountType == .payAsYouGo
  }
}

extension OwnershipType {
  /// Whether another person bought it. A value that is not known counts as the customer's.
  fileprivate var isOfAnother: Bool { self == .familyShared || self == .assigned }
}

extension Standing {
  /// When a subscription that gives no access stopped giving it: by a refund, or at the end of its
  /// period. A grace that came to nothing does not count.
  fileprivate var accessEnd: Milliseconds? {
    guard let date = revocation?.date, status == .revoked else { return periodEnd }
    return periodEnd.map { min($0, date) } ?? date
  }
}

extension CustomerRecord {
  /// The version of each transaction that stands (R5), of this app and environment.
  fileprivate var standingTransactions: [TransactionID: TransactionFact] {
    var standing: [TransactionID: TransactionFact] = [:]
    for case .transaction(let fact) in facts where fact.scope == scope {
      let known = standing[fact.transactionID]
      if let known, known.precedence >= fact.precedence { continue }
      standing[fact.transactionID] = fact
    }
    return standing
  }

  /// Without the chains that others bought; nil when there are none. A chain is another's if a
  /// transaction of it is.
  fileprivate var withoutPurchasesOfOthers: CustomerRecord? {
    let standing = standingTransactions
    var shared: Set<OriginalTransactionID> = []
    for fact in standing.values where fact.ownership?.isOfAnother == true {
      shared.insert(fact.originalTransactionID)
    }
    if shared.isEmpty { return nil }
    var record = self
    record.facts.removeAll { fact in
      switch fact {
      case .transaction(let fact):
        // An earlier version may name another chain (R7).
        standing[fact.transactionID].map { shared.contains($0.originalTransactionID) } ?? false
      case .renewalInfo(let fact): shared.contains(fact.originalTransactionID)
      case .appTransaction: false
      }
    }
    return record
  }

  /// A transaction that names the customer to Apple: "any transaction that belongs to the customer",
  /// or the app transaction ("Generating JWS to sign App Store requests"). The latest own purchase
  /// that began by `now`, else the id of the app transaction; nil when neither is known.
  package func transactionForOffers(at now: Milliseconds) -> String? {
    let own = (withoutPurchasesOfOthers ?? self).standingTransactions.values
    let latest = own.filter { $0.purchaseDate <= now }.max {
      ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID)
    }
    if let latest { return latest.transactionID.rawValue }
    var appTransaction: AppTransactionID?
    for case .appTransaction(let fact) in facts where fact.scope == scope {
      guard let id = fact.appTransactionID else { continue }
      appTransaction = max(id, appTransaction ?? id)
    }
    return appTransaction?.rawValue
  }
}
