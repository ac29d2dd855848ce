import EntitlementDomain
import TestSupport

/// The facts of one customer in one scope: chains, other purchases and app transactions, with
/// several signed versions of some, transactions that moved between chains, and items of receipts
/// and of archived responses.
struct RandomHistory {
  let scope: AppScope
  private let prefix: String
  private var random: SeededRandom
  private(set) var facts: [Fact] = []
  private var lastNumber = 0

  /// - Parameter prefix: keeps identifiers apart from those of other histories.
  init(scope: AppScope, random: SeededRandom, prefix: String = "") {
    self.scope = scope
    self.random = random
    self.prefix = prefix
  }

  /// Mostly up to twelve facts, sometimes about forty.
  mutating func addAll() {
    let isLarge = random.chance(150)
    for number in 0..<random.number(isLarge ? 3...6 : 0...2) {
      addChain(number, periods: random.number(isLarge ? 3...8 : 1...3))
    }
    for _ in 0..<random.number(isLarge ? 4...8 : 0...2) { addPurchase() }
    for _ in 0..<(random.chance(3) ? random.number(1...2) : 0) { addAppTransaction() }
  }

  mutating func addChain(_ number: Int, periods: Int) {
    let chain = OriginalTransactionID(prefix + "c\(number)")
    let isShared = random.chance(8)
    // Most chains have one product; the others have upgrades and downgrades.
    let products =
      random.chance(2)
      ? [random.pick(RandomCatalog.subscriptions)] : RandomCatalog.subscriptions
    var day = random.number(0...40)
    for _ in 0..<periods {
      let length = random.pick([7, 10, 30, 30, 30, 60])
      var period = transaction(
        random.pick(products), type: .autoRenewable, at: RandomDates.near(day...day, with: &random))
      period.originalTransactionID = chain
      period.expiresDate =
        random.chance(20)
        ? nil : RandomDates.near((day + length)...(day + length), with: &random)
      describe(&period, day: day, isShared: isShared)
      add(period, day: day)
      day += length + random.pick([0, 0, 0, 0, -1, -5, 3, -length])
    }
    for _ in 0..<random.pick([0, 1, 1, 1, 2]) { addRenewal(of: chain, until: day) }
  }

  private mutating func describe(_ period: inout TransactionFact, day: Int, isShared: Bool) {
    period.subscriptionGroupID = random.chance(6) ? nil : random.pick(RandomCatalog.groups)
    // Some line items occur in other chains too: only those of one chain are one period (R6).
    period.webOrderLineItemID = random.pick([
      nil, "", "w", "w1", WebOrderLineItemID(period.transactionID.rawValue),
    ])
    period.transactionReason = random.pick([nil, "PURCHASE", "RENEWAL"])
    period.isUpgraded = random.chance(5)
    period.originalPurchaseDate = random.chance(3) ? nil : RandomDates.day(day - 3)
    period.ownership =
      isShared ? .familyShared : random.pick([.purchased, .purchased, .assigned, nil])
    if random.chance(4) {
      period.offer = Offer(
        type: random.pick([.introductory, .promotional, .winBack, OfferType(rawValue: 99)]),
        discountType: random.pick([nil, .freeTrial, .payAsYouGo]))
    }
    if random.chance(10) {
      period.commitment = Commitment(billingPeriodNumber: 1, totalBillingPeriods: 12)
    }
  }

  mutating func addPurchase() {
    let day = random.number(0...100)
    let product = random.pick(RandomCatalog.oneTimeProducts)
    // Sometimes the type differs from the catalog's.
    let type = random.pick([
      ProductType.nonRenewing, .nonRenewing, .nonConsumable, .consumable,
      ProductType(rawValue: "Timeshare"),
    ])
    var purchase = transaction(
      product, type: type, at: RandomDates.near(day...day, with: &random))
    purchase.ownership = random.pick([.purchased, .familyShared, nil])
    add(purchase, day: day)
  }

  mutating func addAppTransaction() {
    var fact = AppTransactionFact(
      bundleID: scope.bundleID, environment: scope.environment,
      signedDate: RandomDates.near(0...120, with: &random), digest: digest())
    fact.appTransactionID = random.pick([nil, named("a1"), named("a2")])
    fact.originalApplicationVersion = random.pick([nil, "8", "9.5", "10", "10.2.1", "2.0b1", "108"])
    fact.originalPlatform = random.pick([nil, "iOS", "macOS", "carOS"])
    fact.originalPurchaseDate =
      random.chance(4) ? nil : RandomDates.near(0...120, with: &random)
    fact.preorderDate = random.chance(4) ? RandomDates.near(0...120, with: &random) : nil
    if random.chance(3) { fact.authority = lesserAuthority() }
    facts.append(.appTransaction(fact))
  }

  private mutating func addRenewal(of chain: OriginalTransactionID, until day: Int) {
    var info = RenewalInfoFact(
      bundleID: scope.bundleID, environment: scope.environment, originalTransactionID: chain,
      signedDate: RandomDates.near(0...(max(0, day) + 5), with: &random), digest: digest())
    let known = facts.compactMap { fact -> TransactionFact? in
      guard case .transaction(let transaction) = fact else { return nil }
      return transaction.originalTransactionID == chain ? transaction : nil
    }
    let last = random.chance(6) ? known.first : known.last
    info.productID = random.pick([last?.productID, last?.productID, nil, "sub.a", "elsewhere"])
    info.autoRenewProductID = random.pick([info.productID, info.productID, nil, "sub.b"])
    info.autoRenews = random.pick([true, true, false, nil])
    info.renewalDate = random.pick([nil, last?.expiresDate, RandomDates.day(day)])
    info.recentSubscriptionStartDate = random.pick([
      nil, nil, known.first?.purchaseDate, last?.purchaseDate,
    ])
    if random.chance(3) {
      info.gracePeriodExpiresDate = last?.expiresDate?.advanced(
        by: Int64(random.pick([-1, 6, 16, 28])) * Milliseconds.dayLength)
    }
    if random.chance(3) { info.isInBillingRetryPeriod = random.chance(4) ? false : true }
    if random.chance(4) {
      info.expirationIntent = ExpirationIntent(rawValue: Int64(random.number(1...6)))
    }
    info.priceIncreaseStatus = random.pick([nil, nil, .pending, .accepted])
    info.renewalOffer = random.chance(6) ? Offer(type: .promotional, identifier: "half") : nil
    info.eligibleWinBackOfferIDs = random.chance(4) ? ["back.1", "back.2"] : []
    // A receipt contains no renewal info.
    if random.chance(5) { info.authority = .archivedResponse }
    facts.append(.renewalInfo(info))
  }

  private mutating func transaction(
    _ product: ProductID, type: ProductType, at date: Milliseconds
  ) -> TransactionFact {
    lastNumber += 1
    let id = "\(prefix)t\(lastNumber)"
    var fact = TransactionFact(
      bundleID: scope.bundleID, environment: scope.environment,
      originalTransactionID: OriginalTransactionID(id), transactionID: TransactionID(id),
      productID: product, type: type, purchaseDate: date, signedDate: date, digest: digest())
    fact.storefront = random.pick([nil, "USA"])
    return fact
  }

  /// Adds a transaction that may be revoked, have several versions, or come from a document.
  private mutating func add(_ transaction: TransactionFact, day: Int) {
    var fact = transaction
    fact.signedDate = RandomDates.near((day - 2)...(day + 40), with: &random)
    revoke(&fact, day: day, odds: 4)
    if random.chance(6) {
      fact.authority = lesserAuthority()
      if random.chance(2) { fact.type = ProductType(rawValue: "") }
    }
    facts.append(.transaction(fact))
    // The same content may arrive in two forms.
    if random.chance(12) {
      fact.authority = lesserAuthority()
      facts.append(.transaction(fact))
    }
    for _ in 0..<random.pick([0, 0, 0, 1, 2]) { addVersion(of: transaction, day: day) }
  }

  private mutating func addVersion(of transaction: TransactionFact, day: Int) {
    var fact = transaction
    // Even days make equal signing dates likely, so that the other criteria of R5 decide.
    fact.signedDate = RandomDates.day(day + random.number(0...3) * 10)
    fact.digest = digest()
    revoke(&fact, day: day, odds: 2)
    if random.chance(5) { fact.isUpgraded.toggle() }
    if random.chance(5) { fact.originalTransactionID = named("moved") }
    if random.chance(8) { fact.webOrderLineItemID = "w" }
    if random.chance(6) { fact.authority = lesserAuthority() }
    facts.append(.transaction(fact))
  }

  private mutating func revoke(_ fact: inout TransactionFact, day: Int, odds: UInt64) {
    guard random.chance(odds) else { return }
    fact.revocationDate = RandomDates.near((day - 1)...(day + 35), with: &random)
    fact.revocationReason = random.pick([nil, .appIssue, .other])
    fact.revocationType = random.pick([nil, .refundFull, .refundProrated, .familyRevoke])
  }

  private mutating func lesserAuthority() -> FactAuthority {
    random.pick([.receipt, .archivedResponse])
  }

  private func named<Kind>(_ text: String) -> Identifier<Kind> {
    Identifier(prefix + text)
  }

  private mutating func digest() -> PayloadDigest {
    PayloadDigest(words: (random.next(), random.next()))
  }
}
