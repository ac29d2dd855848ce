/// Merges facts for a ``History``: keeps the standing version of each fact, and groups transactions
/// by chain and product. Not copyable, as ``StateBuilder``.
struct HistoryBuilder: ~Copyable {
  private let scope: AppScope
  private let catalog: [ProductID: CatalogProduct]

  /// The positions of the renewal infos, and those of the standing app transactions.
  private var renewalInfos: [Int] = []
  private(set) var appTransactions: [Int] = []
  private(set) var products: [FactTable.Product] = []

  private var productNumbers = HashNumbers()
  private var chainNumbers = HashNumbers()
  /// By number: the position of the first transaction that names the chain.
  private var chainFacts: [Int] = []

  private var transactionIDs: DuplicateDetector
  private var lineItems: DuplicateDetector
  private var periods: [(chain: Int, period: Period)] = []
  private var purchases: [(product: Int, window: OneTimePurchases.Window)] = []
  /// Whether a purchase may have several transactions (R6): one of them has not the id of the chain.
  private var mayRepeatPurchases = false
  /// By chain number: the positions of transactions that another transaction of the same line item
  /// supersedes (R6).
  private var repeats: [Int: [Int]] = [:]

  /// - Parameters:
  ///   - capacity: the largest number of facts that will be added.
  ///   - catalog: the products of the catalog.
  init(capacity: Int, scope: AppScope, catalog: [ProductID: CatalogProduct]) {
    self.scope = scope
    self.catalog = catalog
    transactionIDs = DuplicateDetector(capacity: capacity)
    lineItems = DuplicateDetector(capacity: capacity)
    periods.reserveCapacity(capacity)
    // Most customers have a few of these: a list that grows to them is allocated several times.
    let few = min(capacity, 8)
    renewalInfos.reserveCapacity(few)
    products.reserveCapacity(few)
    chainFacts.reserveCapacity(few)
  }

  /// Adds the standing facts of the scope, completed by statements of other forms (R92).
  mutating func add(_ facts: inout [Fact]) {
    add(facts.span, at: facts.indices)
    if transactionIDs.hasDuplicates {
      facts.completeVersions(of: scope)
      keep(
        Self.standing(periods.map(\.period.fact) + purchases.map(\.window.fact), of: facts),
        of: facts)
    }
    if lineItems.hasDuplicates {
      let positions = periods.map(\.period.fact)
      if facts.completeLineItems(at: positions) {
        keep(positions + purchases.map(\.window.fact), of: facts)
      }
      mergeDuplicateLineItems(of: facts)
    }
    if appTransactions.count > 1 { appTransactions = Self.standing(appTransactions, of: facts) }
  }

  /// Adds again, of what was added, the transactions at some positions, and all that is no transaction.
  private mutating func keep(_ transactions: [Int], of facts: [Fact]) {
    let kept = transactions + renewalInfos + appTransactions
    self = HistoryBuilder(capacity: kept.count, scope: scope, catalog: catalog)
    add(facts.span, at: kept)
  }

  /// Adds the facts at some positions, if they are of the scope.
  private mutating func add(_ facts: Span<Fact>, at positions: some Collection<Int>) {
    let scope = scope
    for position in positions {
      guard facts[position].isOf(scope) else { continue }
      if let transaction = TransactionOutline.of(facts[position], at: position) {
        add(transaction, of: facts)
      } else if facts[position].kind == .renewalInfo {
        renewalInfos.append(position)
      } else {
        appTransactions.append(position)
      }
    }
  }

  /// Whether neither a transaction nor a renewal info is known.
  var isEmpty: Bool { hasNoPurchase && renewalInfos.isEmpty }

  var hasNoPurchase: Bool { periods.isEmpty && purchases.isEmpty }

  // MARK: Versions

  /// Keeps the version with the greatest precedence of each fact (R5); all facts are of one kind.
  private static func standing(_ positions: [Int], of facts: [Fact]) -> [Int] {
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

  // MARK: Chains and products

  /// Adds a transaction to its chain or product. The standing version determines the chain (R7).
  private mutating func add(_ transaction: TransactionOutline, of facts: Span<Fact>) {
    transactionIDs.insert(hash: transaction.idHash)
    var period = transaction.period
    period.product = productNumber(of: transaction, in: facts)
    if let kind = oneTimeKind(of: transaction, product: period.product) {
      let window = OneTimePurchases.Window(
        of: period, kind: kind, duration: products[period.product].duration)
      purchases.append((period.product, window))
      if transaction.idHash != transaction.chainHash { mayRepeatPurchases = true }
    } else {
      periods.append((chainNumber(of: transaction, in: facts), period))
      if let hash = transaction.lineItemHash { lineItems.insert(hash: hash) }
    }
  }

  private mutating func productNumber(of transaction: TransactionOutline, in facts: Span<Fact>)
    -> Int
  {
    let position = transaction.period.fact
    let known = productNumbers.find(transaction.productHash) {
      Fact.haveSameProduct(facts[products[$0].fact], facts[position])
    }
    if let known { return known }
    productNumbers.append(transaction.productHash)
    products.append(.of(facts[position], at: position, in: catalog))
    return products.count - 1
  }

  private mutating func chainNumber(of transaction: TransactionOutline, in facts: Span<Fact>) -> Int
  {
    let position = transaction.period.fact
    let known = chainNumbers.find(transaction.chainHash) {
      Fact.haveSameChain(facts[chainFacts[$0]], facts[position])
    }
    if let known { return known }
    chainNumbers.append(transaction.chainHash)
    chainFacts.append(position)
    return chainFacts.count - 1
  }

  /// Merges the transactions of a chain that have the same non-empty line item. They are one period
  /// (R6).
  private mutating func mergeDuplicateLineItems(of facts: [Fact]) {
    let table = FactTable(facts: facts, products: [])
    var numbers = IdentifierInterner<WebOrderLineItemKind>()
    /// By number of the line item: the index in `standing`.
    var standingIndices: [Int] = []
    var standing: [(chain: Int, period: Period)] = []
    for (chain, period) in periods {
      let item = table.transaction(period.fact).webOrderLineItemID
      guard let item, !item.rawValue.isEmpty else {
        standing.append((chain, period))
        continue
      }
      let number = numbers.number(of: item, qualifier: chain)
      if number == standingIndices.count {
        standingIndices.append(standing.count)
        standing.append((chain, period))
        continue
      }
      let known = standing[standingIndices[number]].period
      let isReplaced = table.isOutranked(known.fact, by: period.fact)
      if isReplaced { standing[standingIndices[number]].period = period }
      repeats[chain, default: []].append(isReplaced ? known.fact : period.fact)
    }
    periods = standing
  }

  /// The kind of a purchase. Receipts contain no type: it is then taken from the catalog. A product
  /// that is not in the catalog counts as auto-renewable if the transaction has an end.
  ///
  /// - Returns: nil for an auto-renewable subscription.
  private func oneTimeKind(of transaction: TransactionOutline, product: Int) -> OneTimeKind? {
    guard transaction.lacksType else { return transaction.oneTimeKind }
    switch products[product].kind {
    case .autoRenewable: return nil
    case .nonRenewing: return .nonRenewing
    case .nonConsumable: return .nonConsumable
    case .consumable: return .consumable
    case nil: return transaction.period.hasEnd ? nil : transaction.oneTimeKind
    }
  }

  // MARK: Results

  /// The chains, sorted by id.
  func chains(in table: FactTable, check: inout CancellationCheck)
    throws(EvaluationCancelled) -> [SubscriptionChain]
  {
    guard let first = periods.first else { return [] }
    var starts = endsOfChains
    var ordered = Array(repeated: first.period, count: periods.count)
    for (chain, period) in periods.reversed() {
      starts[chain].period -= 1
      ordered[starts[chain].period] = period
    }
    var renewals = renewals(of: table.facts.span)
    try check.ask()
    // All chains share the arrays, which are complete before the first of them refers to them.
    var productsOfChains: [Int] = []
    productsOfChains.reserveCapacity(chainFacts.count + products.count)
    var slots = ProductSlots()
    for number in chainFacts.indices {
      try check.step()
      let range = starts[number].period..<starts[number + 1].period
      // Mostly the facts are in the order of the periods.
      let isSorted = range.dropFirst().allSatisfy { table.isEarlier(ordered[$0 - 1], ordered[$0]) }
      if !isSorted { ordered[range].sort(by: table.isEarlier) }
      let firstProduct = productsOfChains.count
      starts[number].product = firstProduct
      let product = ordered[range.lowerBound].product
      productsOfChains.append(product)
      // Most chains have one product, so no period can replace another.
      if range.contains(where: { ordered[$0].product != product }) {
        slots.number(&ordered, in: range, productCount: products.count)
        Replacements.mark(&ordered, in: range, renewal: renewals[number])
        // The slots have the order of the first occurrences.
        for index in range
        where ordered[index].productInChain == productsOfChains.count - firstProduct {
          productsOfChains.append(ordered[index].product)
        }
      }
      Self.markFirstHeard(&ordered, in: range)
    }
    starts[chainFacts.count].product = productsOfChains.count
    var chains: [SubscriptionChain] = []
    chains.reserveCapacity(chainFacts.count)
    for number in chainFacts.indices {
      try check.step()
      let (start, end) = (starts[number], starts[number + 1])
      let periods = ordered[start.period..<end.period]
      renewals[number]?.findSubject(in: periods)
      chains.append(
        SubscriptionChain(
          id: table.transaction(chainFacts[number]).originalTransactionID, periods: periods,
          renewal: renewals[number], repeats: repeats[number] ?? [],
          products: productsOfChains[start.product..<end.product]))
    }
    if chains.count > 1 { chains.sort { $0.id < $1.id } }
    return chains
  }

  /// By chain number: the end of its periods, when all are in the order of the chains. The last is the
  /// end of all of them.
  private var endsOfChains: [(period: Int, product: Int)] {
    var ends = [(period: Int, product: Int)](
      repeated: (period: 0, product: 0), count: chainFacts.count + 1)
    for (chain, _) in periods { ends[chain].period += 1 }
    for chain in ends.indices.dropFirst() { ends[chain].period += ends[chain - 1].period }
    return ends
  }

  /// The renewals by chain number; nil for a chain without a renewal info.
  private func renewals(of facts: Span<Fact>) -> [Renewal?] {
    var renewals = [Renewal?](repeated: nil, count: chainFacts.count)
    for position in renewalInfos {
      guard let info = RenewalOutline.of(facts[position], at: position) else { continue }
      let chain = chainNumbers.find(info.chainHash) {
        Fact.haveSameChain(facts[chainFacts[$0]], facts[position])
      }
      guard let chain else { continue }
      // The standing version counts (R5).
      if let known = renewals[chain], facts[known.fact].precedence >= facts[position].precedence {
        continue
      }
      renewals[chain] = info.renewal
      guard let hash = info.productHash else { continue }
      let product = productNumbers.find(hash) {
        Fact.haveSameProduct(facts[products[$0].fact], facts[position])
      }
      renewals[chain]?.product = product ?? Renewal.otherProduct
    }
    return renewals
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
    var byProduct = [[OneTimePurchases.Window]](repeated: [], count: products.count)
    for (product, window) in purchases { byProduct[product].append(window) }
    var ordered: [OneTimePurchases] = []
    for product in order where !byProduct[product].isEmpty {
      // Moved, as they are sorted in place.
      var windows: [OneTimePurchases.Window] = []
      swap(&windows, &byProduct[product])
      ordered.append(
        OneTimePurchases(
          product: product, windows: windows, mayRepeat: mayRepeatPurchases, in: table))
    }
    return ordered
  }
}

// As ``TransactionOutline/of(_:at:)``, these only read fields.
extension Fact {
  @inline(never)
  fileprivate static func haveSameChain(_ left: Fact, _ right: Fact) -> Bool {
    switch (left, right) {
    case (.transaction(let left), .transaction(let right)):
      left.originalTransactionID == right.originalTransactionID
    case (.transaction(let left), .renewalInfo(let right)):
      left.originalTransactionID == right.originalTransactionID
    default: false
    }
  }

  @inline(never)
  fileprivate static func haveSameProduct(_ left: Fact, _ right: Fact) -> Bool {
    switch (left, right) {
    case (.transaction(let left), .transaction(let right)): left.productID == right.productID
    case (.transaction(let left), .renewalInfo(let right)): left.productID == right.productID
    default: false
    }
  }

  /// Whether the fact is of an app and environment (R9). Declared to read only, as
  /// ``IdentifierBytes``: otherwise each fact would be retained for the call.
  @inline(never)
  @_effects(readonly)
  fileprivate func isOf(_ scope: AppScope) -> Bool {
    // Not one switch, and no text outside a fact: either would count references.
    if case .transaction(let fact) = self {
      let isOfApp = fact.bundleID == scope.bundleID
      return isOfApp && fact.environment == scope.environment
    }
    if case .renewalInfo(let fact) = self {
      let isOfApp = fact.bundleID == scope.bundleID
      return isOfApp && fact.environment == scope.environment
    }
    guard case .appTransaction(let fact) = self else { return false }
    let isOfApp = fact.bundleID == scope.bundleID
    return isOfApp && fact.environment == scope.environment
  }
}

/// Numbers the products of each chain in the order of their first occurrences.
private struct ProductSlots {
  /// By product: its number in the chain at hand; -1 when it has none.
  private var slots: [Int32] = []

  /// - Parameter chain: the positions of the periods of one chain.
  mutating func number(_ periods: inout [Period], in chain: Range<Int>, productCount: Int) {
    if slots.isEmpty { slots = Array(repeated: -1, count: productCount) }
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
    earliestStarts = Array(repeated: Milliseconds(.max), count: chain.count + 1)
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

extension Array {
  /// The same as `init(repeating:count:)`, which looks up the type of the array's storage at run time.
  /// For the short lists of most customers that takes longer than all else.
  init(repeated element: Element, count: Int) {
    self.init(repeatElement(element, count: count))
  }
}
