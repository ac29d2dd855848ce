/// Merges facts for a ``History``: keeps the standing version of each fact, and groups transactions
/// by chain and product.
struct HistoryBuilder {
  private let facts: [Fact]
  private let scope: AppScope
  private let catalog: Catalog

  /// The positions of the standing facts.
  private(set) var transactions: [Int] = []
  private(set) var renewalInfos: [Int] = []
  private(set) var appTransactions: [Int] = []
  private(set) var products: [FactTable.Product] = []

  private var productNumbers = IdentifierInterner<ProductKind>()
  private var chainNumbers = IdentifierInterner<ChainKind>()
  private var periods: [(chain: Int, period: Period)] = []
  /// By chain number: the positions of transactions that another transaction of the same line item
  /// supersedes (R6).
  private var repeats: [Int: [Int]] = [:]
  private var purchases: [OneTimePurchases.Purchase] = []

  init(facts: [Fact], scope: AppScope, catalog: Catalog) {
    self.facts = facts
    self.scope = scope
    self.catalog = catalog
  }

  // MARK: Versions

  /// Keeps the version with the greatest precedence of each fact (R5).
  mutating func mergeFacts() {
    let (facts, scope) = (facts, scope)
    transactions.reserveCapacity(facts.count)
    var identifiers = DuplicateDetector(capacity: facts.count)
    for position in facts.indices {
      switch facts[position] {
      case .transaction(let fact):
        guard fact.environment == scope.environment, fact.bundleID == scope.bundleID
        else { continue }
        identifiers.insert(hash: IdentifierInterner.hash(of: fact.transactionID))
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
    if identifiers.hasDuplicates { transactions = standing(transactions) }
    if renewalInfos.count > 1 { renewalInfos = standing(renewalInfos) }
    if appTransactions.count > 1 { appTransactions = standing(appTransactions) }
  }

  /// The standing version of each fact; all facts are of one kind.
  private func standing(_ positions: [Int]) -> [Int] {
    var numbers = IdentifierInterner<FactKind>()
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

  /// Groups the standing transactions. The standing version determines the chain (R7).
  mutating func groupTransactions() {
    periods.reserveCapacity(transactions.count)
    var lineItems = DuplicateDetector(capacity: transactions.count)
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
    if lineItems.hasDuplicates { mergeDuplicateLineItems() }
  }

  /// Merges the transactions of a chain that have the same non-empty line item. They are one
  /// period, and the transaction that was signed later stands (R6).
  private mutating func mergeDuplicateLineItems() {
    let table = FactTable(facts: facts, products: [])
    var lineItems = IdentifierInterner<WebOrderLineItemKind>()
    /// By number of the line item: the index in `standing`.
    var standingIndices: [Int] = []
    var standing: [(chain: Int, period: Period)] = []
    for (chain, period) in periods {
      let item = table.transaction(period.fact).webOrderLineItemID
      guard let item, !item.rawValue.isEmpty else {
        standing.append((chain, period))
        continue
      }
      let number = lineItems.number(of: item, qualifier: chain)
      if number == standingIndices.count {
        standingIndices.append(standing.count)
        standing.append((chain, period))
        continue
      }
      let known = standing[standingIndices[number]].period
      let isLater = table.isSignedEarlier(known.fact, period.fact)
      if isLater { standing[standingIndices[number]].period = period }
      repeats[chain, default: []].append(isLater ? known.fact : period.fact)
    }
    periods = standing
  }

  private mutating func number(of id: ProductID) -> Int {
    let number = productNumbers.number(of: id)
    if number == products.count {
      products.append(FactTable.Product(id: id, inCatalog: catalog.products[id]))
    }
    return number
  }

  /// The kind of a purchase. Receipts contain no type: it is then taken from the catalog. A product
  /// that is not in the catalog counts as auto-renewable if the transaction has an end.
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

  mutating func chains(in table: FactTable, check: inout CancellationCheck)
    throws(EvaluationCancelled) -> [SubscriptionChain]
  {
    periods.sort { left, right in
      left.chain == right.chain
        ? table.isEarlier(left.period, right.period) : left.chain < right.chain
    }
    var ordered = periods.map(\.period)
    var renewals = renewals()
    try check.ask()
    // All chains share one array, which is complete before the first of them refers to it.
    var first = 0
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(chainNumbers.count)
    var slots = ProductSlots()
    while first < periods.count {
      try check.step()
      let range = rangeOfChain(from: first)
      // Most chains have one product, so no period can replace another.
      if ordered[range].contains(where: { $0.product != ordered[first].product }) {
        slots.number(&ordered, in: range, productCount: products.count)
        Replacements.mark(&ordered, in: range)
      }
      Self.markFirstHeard(&ordered, in: range)
      ranges.append(range)
      first = range.upperBound
    }
    var chains: [SubscriptionChain] = []
    chains.reserveCapacity(ranges.count)
    let hasMany = ranges.count > Self.sortedInPlace
    for range in hasMany ? sortedByID(ranges) : ranges {
      try check.step()
      let number = periods[range.lowerBound].chain
      renewals[number]?.findSubject(in: ordered[range])
      chains.append(
        SubscriptionChain(
          id: chainNumbers.identifier(number), periods: ordered[range],
          renewal: renewals[number], repeats: repeats[number] ?? [],
          firstPurchaseAt: ordered[range].lazy.map(\.firstPurchaseAt).min() ?? 0,
          products: distinctProducts(of: ordered[range])))
    }
    if !hasMany, chains.count > 1 { chains.sort { $0.id < $1.id } }
    return chains
  }

  /// So many chains are sorted as they are: sorting their ranges would cost more.
  private static let sortedInPlace = 16

  /// The ranges of the chains, sorted by chain id. Sorting the chains would move large values.
  private func sortedByID(_ ranges: [Range<Int>]) -> [Range<Int>] {
    func id(_ range: Range<Int>) -> OriginalTransactionID {
      chainNumbers.identifier(periods[range.lowerBound].chain)
    }
    return ranges.count > 1 ? ranges.sorted { id($0) < id($1) } : ranges
  }

  /// The positions of the chain that begins at a position of the sorted periods.
  private func rangeOfChain(from first: Int) -> Range<Int> {
    var end = first + 1
    while end < periods.count, periods[end].chain == periods[first].chain { end += 1 }
    return first..<end
  }

  /// The renewals by chain number; nil for a chain without a renewal info.
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
    // The slots have the order of the first occurrences.
    for period in periods where period.productInChain == products.count {
      products.append(period.product)
    }
    return products
  }

  /// Finds the renewals whose period before them is not known (R60).
  ///
  /// - Parameter chain: the positions of the periods of one chain.
  private static func markFirstHeard(_ periods: inout [Period], in chain: Range<Int>) {
    var earliest: Milliseconds?
    var spans: ReachingPeriods?
    for index in chain where periods[index].isRenewal {
      // Mostly the period in front, which ends first, is the one before it.
      if index > chain.lowerBound, periods[index - 1].isBefore(periods[index]) { continue }
      let period = periods[index]
      let chainStart = earliest ?? periods[chain].lazy.map(\.start).min() ?? period.start
      earliest = chainStart
      let isFirst = chainStart >= period.start
      if isFirst { periods[index].isFirstKnownRenewal = true }
      guard period.signedDate < period.start else { continue }
      if !isFirst {
        let known = spans ?? ReachingPeriods(periods, in: chain)
        spans = known
        if known.containsPeriod(before: period, in: periods) { continue }
      }
      periods[index].accessStart = period.signedDate
    }
  }

  /// The purchases of each product that does not renew.
  ///
  /// - Parameter order: the positions of the products, sorted by id.
  func oneTimePurchases(in table: FactTable, order: [Int]) -> [OneTimePurchases] {
    if purchases.isEmpty { return [] }
    var byProduct = [[OneTimePurchases.Purchase]](repeating: [], count: products.count)
    for purchase in purchases { byProduct[purchase.product].append(purchase) }
    return order.compactMap { product in
      byProduct[product].isEmpty
        ? nil
        : OneTimePurchases(product: product, purchases: byProduct[product], in: table)
    }
  }
}

/// The fields of a transaction that merging needs. Copying whole transactions would be the most
/// expensive part of an evaluation.
struct TransactionOutline {
  let chain: OriginalTransactionID
  let productID: ProductID
  /// Nil for an auto-renewable subscription.
  let oneTimeKind: OneTimeKind?
  /// Whether the type must be taken from the catalog, because receipts and archived responses do
  /// not contain it (R51).
  let lacksType: Bool
  let lineItemHash: UInt64?
  /// The transaction as a period of an auto-renewable chain, without the product's position.
  let period: Period

  /// A separate function that only reads fields. If it were inlined, the compiler would keep a copy
  /// of the whole transaction across other calls.
  @inline(never)
  static func of(_ fact: Fact, at position: Int) -> TransactionOutline? {
    guard case .transaction(let transaction) = fact else { return nil }
    let type = transaction.type
    // The offer of a shared or assigned purchase was used by the purchaser (R29).
    let isOwn = transaction.ownership.map { $0 == .purchased } ?? true
    let offer = isOwn ? transaction.offer : nil
    let purchaseDate = transaction.purchaseDate
    // Most transactions are renewals, and equal short strings are compared faster than others.
    let isRenewal = transaction.transactionReason == "RENEWAL"
    let isPurchase = !isRenewal && transaction.transactionReason == "PURCHASE"
    return TransactionOutline(
      chain: transaction.originalTransactionID, productID: transaction.productID,
      oneTimeKind: OneTimeKind(type),
      lacksType: transaction.authority < .signedTransaction && type.rawValue.isEmpty,
      lineItemHash: transaction.webOrderLineItemID.map { IdentifierInterner.hash(of: $0) },
      period: Period(
        fact: position, start: purchaseDate, end: transaction.expiresDate ?? purchaseDate,
        signedDate: transaction.signedDate,
        firstPurchaseAt: min(purchaseDate, transaction.originalPurchaseDate ?? purchaseDate),
        accessStart: purchaseDate, revocationDate: transaction.revocationDate,
        hasEnd: transaction.expiresDate != nil, isUpgraded: transaction.isUpgraded,
        isPurchase: isPurchase, isRenewal: isRenewal,
        usesTrial: offer?.discountType == .freeTrial,
        usesIntroductoryOffer: offer?.type == .introductory))
  }
}

/// Numbers the products of each chain in the order of their first occurrences.
private struct ProductSlots {
  /// By product: its number in the chain at hand; -1 when it has none.
  private var slots: [Int32] = []

  /// - Parameter chain: the positions of the periods of one chain.
  mutating func number(_ periods: inout [Period], in chain: Range<Int>, productCount: Int) {
    if slots.isEmpty { slots = Array(repeating: -1, count: productCount) }
    var count: Int32 = 0
    for index in chain {
      let product = periods[index].product
      if slots[product] < 0 {
        slots[product] = count
        count += 1
      }
      periods[index].productInChain = slots[product]
    }
    for index in chain { slots[periods[index].product] = -1 }
  }
}

/// Finds out whether a period of a chain began before another one and reaches its start.
private struct ReachingPeriods {
  private let chain: Range<Int>
  /// For each period of the chain, the earliest start of it and all that end later.
  private var earliestStarts: [Milliseconds]

  init(_ periods: [Period], in chain: Range<Int>) {
    self.chain = chain
    earliestStarts = Array(repeating: Milliseconds(.max), count: chain.count + 1)
    // The periods are sorted by their ends.
    for index in chain.reversed() {
      let offset = index - chain.lowerBound
      earliestStarts[offset] = min(periods[index].start, earliestStarts[offset + 1])
    }
  }

  func containsPeriod(before period: Period, in periods: [Period]) -> Bool {
    var (low, high) = (chain.lowerBound, chain.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if periods[middle].end < period.start { low = middle + 1 } else { high = middle }
    }
    return earliestStarts[low - chain.lowerBound] < period.start
  }
}

extension Period {
  /// Whether this period began before the other one and reaches its start, so that the other one
  /// may have renewed it.
  fileprivate func isBefore(_ other: Period) -> Bool {
    start < other.start && end >= other.start
  }
}
