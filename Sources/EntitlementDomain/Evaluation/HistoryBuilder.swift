/// Joins facts for a ``History``: keeps the standing version of each, and sorts transactions into
/// chains and products.
struct HistoryBuilder {
  private let facts: [Fact]
  private let scope: AppScope
  private let catalog: Catalog

  /// Positions of standing facts.
  private(set) var transactions: [Int] = []
  private(set) var renewalInfos: [Int] = []
  private(set) var appTransactions: [Int] = []
  private(set) var products: [Evidence.Product] = []

  private var productNumbers = IdentifierNumbers<ProductKind>()
  private var chainNumbers = IdentifierNumbers<ChainKind>()
  private var periods: [(chain: Int, period: Period)] = []
  /// By chain: positions of transactions that another one of the same line item outdates (R6).
  private var repeats: [Int: [Int]] = [:]
  private var purchases: [OneTimePurchases.Purchase] = []

  init(facts: [Fact], scope: AppScope, catalog: Catalog) {
    self.facts = facts
    self.scope = scope
    self.catalog = catalog
  }

  // MARK: Versions

  /// R5: of each fact the version of the greatest precedence stands.
  mutating func joinFacts() {
    let (facts, scope) = (facts, scope)
    transactions.reserveCapacity(facts.count)
    var identifiers = RepeatDetector(capacity: facts.count)
    for position in facts.indices {
      switch facts[position] {
      case .transaction(let fact):
        guard fact.environment == scope.environment, fact.bundleID == scope.bundleID
        else { continue }
        identifiers.insert(hash: IdentifierNumbers.hash(of: fact.transactionID))
        transactions.append(position)
      case .renewalInfo(let fact):
        guard fact.environment == scope.environment, fact.bundleID == scope.bundleID
        else { continue }
        renewalInfos.append(position)
      case .appTransaction(let fact):
        guard fact.environment == scope.environment, fact.bundleID == scope.bundleID
        else { continue }
        appTransactions.append(position)
      }
    }
    if identifiers.hasRepeats { transactions = standing(transactions) }
    if renewalInfos.count > 1 { renewalInfos = standing(renewalInfos) }
    if appTransactions.count > 1 { appTransactions = standing(appTransactions) }
  }

  /// The standing versions of facts of one kind.
  private func standing(_ positions: [Int]) -> [Int] {
    var numbers = IdentifierNumbers<FactKind>()
    var standing: [Int] = []
    for position in positions {
      let number = numbers.number(of: Identifier(facts[position].key.identifier))
      if number == standing.count {
        standing.append(position)
      } else if facts[standing[number]].precedence < facts[position].precedence {
        standing[number] = position
      }
    }
    return standing
  }

  var appTransactionFacts: [AppTransactionFact] {
    appTransactions.compactMap { position in
      guard case .appTransaction(let fact) = facts[position] else { return nil }
      return fact
    }
  }

  // MARK: Chains and products

  /// R7: a transaction's chain is what its standing version says.
  mutating func groupTransactions() {
    periods.reserveCapacity(transactions.count)
    var lineItems = RepeatDetector(capacity: transactions.count)
    for position in transactions {
      guard let transaction = TransactionOutline.of(facts[position], at: position)
      else { continue }
      var period = transaction.period
      period.product = number(of: transaction.productID)
      if let kind = oneTimeKind(of: transaction, product: period.product) {
        purchases.append(
          OneTimePurchases.Purchase(
            product: period.product, fact: position, kind: kind, date: period.start,
            revocationDate: period.revocationDate))
      } else {
        periods.append((chainNumbers.number(of: transaction.chain), period))
        if let hash = transaction.lineItemHash { lineItems.insert(hash: hash) }
      }
    }
    if lineItems.hasRepeats { joinRepeatedLineItems() }
  }

  /// R6: two transactions of a chain with the same non-empty line item are one period; the one signed
  /// later stands.
  private mutating func joinRepeatedLineItems() {
    let evidence = Evidence(facts: facts, products: [])
    var lineItems = IdentifierNumbers<WebOrderLineItemKind>()
    /// By line item: where its period is among those that stand.
    var places: [Int] = []
    var standing: [(chain: Int, period: Period)] = []
    for (chain, period) in periods {
      let item = evidence.transaction(period.fact).webOrderLineItemID
      guard let item, !item.rawValue.isEmpty else {
        standing.append((chain, period))
        continue
      }
      let number = lineItems.number(of: item, qualifier: chain)
      if number == places.count {
        places.append(standing.count)
        standing.append((chain, period))
        continue
      }
      let known = standing[places[number]].period
      let isLater = evidence.isSignedEarlier(known.fact, period.fact)
      if isLater { standing[places[number]].period = period }
      repeats[chain, default: []].append(isLater ? known.fact : period.fact)
    }
    periods = standing
  }

  private mutating func number(of id: ProductID) -> Int {
    let number = productNumbers.number(of: id)
    if number == products.count {
      products.append(Evidence.Product(id: id, inCatalog: catalog.products[id]))
    }
    return number
  }

  /// A receipt does not tell the type: it comes from the catalog, and for a product that the catalog
  /// does not name from whether it expires.
  ///
  /// - Returns: nil for an auto-renewable subscription.
  private func oneTimeKind(of transaction: TransactionOutline, product: Int) -> OneTimeKind? {
    guard transaction.lacksType else { return transaction.oneTimeKind }
    switch products[product].inCatalog?.kind {
    case .autoRenewable: return nil
    case .nonRenewing: return .nonRenewing
    case .nonConsumable: return .nonConsumable
    case .consumable: return .consumable
    case nil: return transaction.period.hasEnd ? nil : transaction.oneTimeKind
    }
  }

  // MARK: Results

  mutating func chains(in evidence: Evidence) -> [SubscriptionChain] {
    periods.sort { left, right in
      left.chain == right.chain
        ? evidence.isEarlier(left.period, right.period) : left.chain < right.chain
    }
    var ordered = periods.map(\.period)
    let renewals = renewals()
    var chains: [SubscriptionChain] = []
    var first = 0
    while first < periods.count {
      let number = periods[first].chain
      var end = first + 1
      while end < periods.count, periods[end].chain == number { end += 1 }
      let products = distinctProducts(of: ordered[first..<end])
      // Most chains have one product, and nothing in them can replace anything.
      if products.count > 1 { Self.markReplaced(&ordered[first..<end]) }
      let range = first..<end
      chains.append(
        SubscriptionChain(
          id: chainNumbers.identifier(number), periods: ordered[range],
          renewal: renewals[number], repeats: repeats[number] ?? [],
          firstPurchaseAt: ordered[range].lazy.map(\.firstPurchaseAt).min() ?? 0, products: products
        ))
      first = end
    }
    if chains.count > 1 { chains.sort { $0.id < $1.id } }
    return chains
  }

  /// By chain number; nil for a chain of which none is known.
  private func renewals() -> [Renewal?] {
    var renewals = [Renewal?](repeating: nil, count: chainNumbers.count)
    for position in renewalInfos {
      guard case .renewalInfo(let info) = facts[position],
        let chain = chainNumbers.existingNumber(of: info.originalTransactionID)
      else { continue }
      let product = info.productID.map {
        productNumbers.existingNumber(of: $0) ?? Renewal.otherProduct
      }
      renewals[chain] = Renewal.of(info, fact: position, product: product)
    }
    return renewals
  }

  private func distinctProducts(of periods: ArraySlice<Period>) -> [Int] {
    var products: [Int] = []
    for period in periods where !products.contains(period.product) {
      products.append(period.product)
    }
    return products
  }

  /// R17: the first later purchase of another product in the chain replaced an upgraded period.
  ///
  /// The notification of an upgrade carries the new transaction only. Until the old one comes again
  /// with `isUpgraded`, a purchase (not a renewal) of another product in the midst of a period
  /// tells the same: upgrades take effect at once.
  private static func markReplaced(_ periods: inout ArraySlice<Period>) {
    // By start; those that begin together keep the order of their ends (R18).
    let byStart = periods.indices.sorted { left, right in
      let (leftStart, rightStart) = (periods[left].start, periods[right].start)
      return leftStart == rightStart ? left < right : leftStart < rightStart
    }
    for index in periods.indices {
      let period = periods[index]
      // The first that begins when this one does, or later.
      var low = 0
      var high = byStart.count
      while low < high {
        let middle = (low + high) / 2
        if periods[byStart[middle]].start < period.start { low = middle + 1 } else { high = middle }
      }
      let successor = byStart[low...].prefix { periods[$0].start <= period.end }.first { other in
        let next = periods[other]
        guard next.product != period.product else { return false }
        if next.start > period.start, next.start < period.end, next.isPurchase { return true }
        // Of two that begin together and were both upgraded only the earlier gives way: were each
        // the other's successor, none would be left to tell the chain by.
        let isOwnPredecessor = next.start == period.start && next.isUpgraded && other < index
        return period.isUpgraded && !isOwnPredecessor
      }
      periods[index].replacedAt = successor.map { periods[$0].start }
    }
  }

  /// - Parameter order: positions of products, by id.
  func oneTimePurchases(in evidence: Evidence, order: [Int]) -> [OneTimePurchases] {
    if purchases.isEmpty { return [] }
    var byProduct = [[OneTimePurchases.Purchase]](repeating: [], count: products.count)
    for purchase in purchases { byProduct[purchase.product].append(purchase) }
    return order.compactMap { product in
      byProduct[product].isEmpty
        ? nil
        : OneTimePurchases(product: product, purchases: byProduct[product], in: evidence)
    }
  }
}

/// What joining needs of a transaction: the rest is read where it is told. The copy of a whole one
/// would be the dearest part of an evaluation.
struct TransactionOutline {
  let chain: OriginalTransactionID
  let productID: ProductID
  /// Nil for an auto-renewable subscription.
  let oneTimeKind: OneTimeKind?
  /// The type is to be taken from the catalog: receipts, and responses to
  /// them, do not tell it (R51).
  let lacksType: Bool
  let lineItemHash: UInt64?
  /// As a period of an auto-renewable chain, its product still to be numbered.
  let period: Period

  /// A function of its own that only reads fields: across other calls the compiler would keep a copy
  /// of the whole transaction.
  @inline(never)
  static func of(_ fact: Fact, at position: Int) -> TransactionOutline? {
    guard case .transaction(let transaction) = fact else { return nil }
    let type = transaction.type
    // What is shared with this customer, or assigned to them, was used by who bought it (R29).
    let isOwn = transaction.ownership.map { $0 == .purchased } ?? true
    let offer = isOwn ? transaction.offer : nil
    let purchaseDate = transaction.purchaseDate
    return TransactionOutline(
      chain: transaction.originalTransactionID, productID: transaction.productID,
      oneTimeKind: OneTimeKind(type),
      lacksType: transaction.authority < .signedTransaction && type.rawValue.isEmpty,
      lineItemHash: transaction.webOrderLineItemID.map { IdentifierNumbers.hash(of: $0) },
      period: Period(
        fact: position, start: purchaseDate, end: transaction.expiresDate ?? purchaseDate,
        hasEnd: transaction.expiresDate != nil, revocationDate: transaction.revocationDate,
        signedDate: transaction.signedDate, isUpgraded: transaction.isUpgraded,
        isPurchase: transaction.transactionReason == "PURCHASE",
        usesTrial: offer?.discountType == .freeTrial,
        usesIntroductoryOffer: offer?.type == .introductory,
        firstPurchaseAt: min(purchaseDate, transaction.originalPurchaseDate ?? purchaseDate)))
  }
}
