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
  /// The groups of the catalog whose purchases Apple puts in another group.
  private let mismatchedGroups: Set<SubscriptionGroupID>
  /// How access in each group ended last, by the own chains that give none.
  private let lapses: [SubscriptionGroupID: Lapse]
  private let uses: OfferUses
  /// Redemptions whose first period is still to come: an offer for the subscription that a customer
  /// has begins at the next renewal.
  private let pendingUses: [OfferID: Int]
  private let now: Milliseconds

  /// Evaluates a customer, for all offers.
  ///
  /// - Parameter isCancelled: is called on the same thread now and then.
  /// - Returns: nil if `isCancelled` returned true.
  package init?(
    of record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    isCancelled: @escaping () -> Bool = { false }
  ) {
    let (purchases, others) = record.parted
    var check = CancellationCheck(isCancelled)
    do {
      let history = try History(purchases, catalog: catalog, check: &check)
      let own = try history.state(of: purchases, at: now, check: &check)
      let lapses = try history.lapses(at: now, check: &check)
      var sharedGroups: Set<SubscriptionGroupID> = []
      if let others {
        let history = try History(others, catalog: catalog, check: &check)
        let state = try history.state(of: others, at: now, check: &check)
        for group in state.groups where group.standing.coreState == .active {
          sharedGroups.insert(group.groupID)
        }
      }
      self.own = own
      self.lapses = lapses
      self.sharedGroups = sharedGroups
      pendingUses = history.pendingUses(in: own)
    } catch {
      return nil
    }
    self.now = now
    mismatchedGroups = record.mismatchedGroups(in: catalog)
    uses = OfferUses(of: purchases, until: now)
  }

  /// The verdict on an offer of a product.
  package func verdict(on offer: CatalogOffer, of product: CatalogProduct) -> OfferVerdict {
    let group = product.group.flatMap { id in own.groups.first { $0.groupID == id } }
    let isMismatched = product.group.map { mismatchedGroups.contains($0) } ?? false
    let situation = isMismatched ? nil : situation(in: group)
    let used = offer.id.map { uses.count(of: $0) + pendingUses[$0, default: 0] } ?? 0
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
      if pendingUses[id, default: 0] > 0 { return (.usedTooRecently, nil) }
      if let last = uses.last(of: id), now < pause.end(from: last) {
        (refusal, eligibleAt) = (.usedTooRecently, pause.end(from: last))
      }
    }
    if situation.hasLapsed, let pause = offer.lapsedFor,
      let end = group.flatMap({ lapses[$0.groupID] })?.end, now < pause.end(from: end)
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

  /// - Returns: nil when the state of the group cannot be determined.
  private func situation(in group: GroupState?) -> OfferSituation? {
    guard let group else { return .new }
    let standing = group.standing
    if standing.notices.contains(.expiresDateMissing) { return nil }
    switch standing.status {
    case .active: return standing.willRenew == false ? .cancelled : .active
    case .grace, .billingRetry: return .inBillingTrouble
    case .expired, .revoked:
      // The best standing need not be that of the chain which gave access last.
      let isRefund = lapses[group.groupID]?.isRefund ?? (standing.status == .revoked)
      return isRefund ? .refunded : .lapsed
    // Bought for later. There is no earlier purchase, which would decide the group.
    case .upcoming: return .active
    case .replaced, .consumed, .undetermined: return nil
    }
  }
}

/// The end of access in a group, at the end of a period or by a refund.
private struct Lapse: Comparable {
  let end: Milliseconds
  let isRefund: Bool

  /// - Returns: nil when the subscription has not ended, or its end is not known.
  init?(_ standing: Standing) {
    guard standing.status == .expired || standing.status == .revoked, let end = standing.accessEnd
    else { return nil }
    self.end = end
    isRefund = standing.status == .revoked
  }

  /// Of a period and a refund that end together, the period is the later one.
  static func < (left: Self, right: Self) -> Bool {
    left.end == right.end ? left.isRefund && !right.isRefund : left.end < right.end
  }
}

extension History {
  /// The latest end of access in each group, by the chains that have ended.
  fileprivate func lapses(
    at now: Milliseconds, check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> [SubscriptionGroupID: Lapse] {
    var lapses: [SubscriptionGroupID: Lapse] = [:]
    for chain in chains {
      try check.step()
      let verdict = chain.verdict(in: self, at: now)
      let standing = chain.standing(
        by: verdict, firstPurchaseAt: chain.firstPurchaseAt, in: self, at: now)
      guard let lapse = Lapse(standing),
        let group = chain.groupID(of: verdict.period, in: table)
      else { continue }
      lapses[group] = max(lapse, lapses[group] ?? lapse)
    }
    return lapses
  }

  /// The redemptions whose first period is the next renewal.
  ///
  /// - Parameter state: the state by this history.
  fileprivate func pendingUses(in state: CustomerState) -> [OfferID: Int] {
    var pending: [OfferID: Int] = [:]
    for group in state.groups {
      guard let next = renewalOffer(of: group.standing), let id = next.promotionalID,
        !next.continues(group.standing.offer)
      else { continue }
      pending[id, default: 0] += 1
    }
    return pending
  }

  /// The offer of the next renewal. The state names none in billing retry, and a charge that comes
  /// late is under the offer all the same.
  private func renewalOffer(of standing: Standing) -> Offer? {
    guard standing.status == .billingRetry else { return standing.renewalOffer }
    let chain = chains.first { $0.id == standing.originalTransactionID }
    guard let renewal = chain?.renewal, renewal.autoRenews != false else { return nil }
    return table.renewalInfo(renewal.fact).renewalOffer
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
      var previous: TransactionFact?
      for fact in inOrder {
        if let id = fact.offer?.promotionalID {
          add(id, at: fact.purchaseDate, continues: fact.continuesOffer(of: previous))
        }
        previous = fact
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

  /// Whether a period with this offer belongs to the redemption of the period before it. An offer
  /// that is paid as you go has several periods; others have one. Older payloads have no discount type.
  /// Their offers count as offers of several periods, so that two periods of one offer are not taken for
  /// two uses.
  fileprivate func continues(_ previous: Offer?) -> Bool {
    guard let previous, previous.promotionalID == promotionalID else { return false }
    return discountType == nil || discountType == .payAsYouGo
  }
}

extension TransactionFact {
  /// Whether the period belongs to the redemption of the period before it in the chain. A purchase
  /// by the customer begins one of its own, as does a period after a lapse that no renewal ended.
  fileprivate func continuesOffer(of previous: TransactionFact?) -> Bool {
    guard let previous, let offer, transactionReason != "PURCHASE" else { return false }
    let isAdjacent = previous.expiresDate.map { purchaseDate <= $0 } ?? false
    guard isAdjacent || transactionReason == "RENEWAL" else { return false }
    return offer.continues(previous.offer)
  }
}

extension OwnershipType {
  /// Whether another person bought it. A value that is not known counts as the customer's.
  var isOfAnother: Bool { self == .familyShared || self == .assigned }
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

  /// The facts by who bought: without the chains that others did, and those alone, without grants;
  /// nil when there are none. A chain is another's if a transaction of it is.
  fileprivate var parted: (own: CustomerRecord, others: CustomerRecord?) {
    let standing = standingTransactions
    var shared: Set<OriginalTransactionID> = []
    for fact in standing.values where fact.ownership?.isOfAnother == true {
      shared.insert(fact.originalTransactionID)
    }
    if shared.isEmpty { return (self, nil) }
    func isOfAnother(_ fact: Fact) -> Bool {
      switch fact {
      case .transaction(let fact):
        // An earlier version may name another chain (R7).
        standing[fact.transactionID].map { shared.contains($0.originalTransactionID) } ?? false
      case .renewalInfo(let fact): shared.contains(fact.originalTransactionID)
      case .appTransaction: false
      }
    }
    var (own, others) = (self, self)
    own.facts.removeAll(where: isOfAnother)
    others.facts = facts.filter(isOfAnother)
    others.grants = []
    return (own, others)
  }

  /// The groups of the catalog whose purchases Apple puts in another group: there the catalog does
  /// not tell which purchases are of the group of an offer.
  fileprivate func mismatchedGroups(in catalog: Catalog) -> Set<SubscriptionGroupID> {
    var mismatched: Set<SubscriptionGroupID> = []
    for fact in standingTransactions.values {
      guard let signed = fact.subscriptionGroupID,
        let group = catalog.products[fact.productID]?.group, signed != group
      else { continue }
      mismatched.insert(group)
    }
    return mismatched
  }

  /// The id that names the customer to Apple in a signed offer: that of any transaction of the customer,
  /// or of the app transaction (Apple, "Generating JWS to sign App Store requests"). It is the first of
  /// `asked` that is the customer's; else that of the latest own purchase that began by `now`; else
  /// that of the app transaction; nil when neither is known.
  ///
  /// - Parameter asked: accounts and tokens ask for none.
  package func transactionForOffers(
    at now: Milliseconds, preferring asked: [CustomerSelector] = []
  ) -> String? {
    let own = parted.own.standingTransactions.values.filter { $0.purchaseDate <= now }
    let appTransactions = appTransactionIDs
    for selector in asked {
      switch selector {
      case .transaction(let id):
        if own.contains(where: { $0.transactionID == id }) { return id.rawValue }
        if let latest = Self.latest(own, of: OriginalTransactionID(id.rawValue)) { return latest }
        // A request has one field for both.
        if appTransactions.contains(AppTransactionID(id.rawValue)) { return id.rawValue }
      case .originalTransaction(let id):
        if let latest = Self.latest(own, of: id) { return latest }
      case .appTransaction(let id):
        if appTransactions.contains(id) { return id.rawValue }
      case .account, .appAccountToken: break
      }
    }
    return Self.latest(own) ?? appTransactions.max()?.rawValue
  }

  /// - Parameter chain: nil: of all chains.
  private static func latest(
    _ transactions: [TransactionFact], of chain: OriginalTransactionID? = nil
  ) -> String? {
    transactions.lazy.filter { $0.originalTransactionID == chain ?? $0.originalTransactionID }
      .max { ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID) }?
      .transactionID.rawValue
  }

  private var appTransactionIDs: Set<AppTransactionID> {
    var ids: Set<AppTransactionID> = []
    for case .appTransaction(let fact) in facts where fact.scope == scope {
      if let id = fact.appTransactionID { ids.insert(id) }
    }
    return ids
  }
}
