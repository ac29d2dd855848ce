import EntitlementDomain
import TestSupport

/// A subscription as Apple bills it, with what the customer has at each moment. It is told by Apple's
/// sentences about subscription groups, and knows neither rules nor code of the engine:
///
/// - "Upgrade: the new subscription is in effect immediately."
/// - "Downgrade: the subscription continues until the next renewal date, then renews at the lower level."
/// - "Crossgrade: the same duration takes effect immediately, another one at the next renewal date."
/// - "The App Store begins to charge up to 24 hours before the subscription expires." What it charged for
///   the old product before an upgrade is taken back, and never begins.
struct BillingStory: CustomStringConvertible {
  /// What the customer has, from a moment to another.
  struct Use: Equatable {
    var product: ProductID
    var from: Milliseconds
    var to: Milliseconds
  }

  private struct Plan {
    let product: ProductID
    let level: Int
    let days: Int64
  }

  private static let plans = [
    Plan(product: "max.monthly", level: 1, days: 30),
    Plan(product: "max.weekly", level: 1, days: 7),
    Plan(product: "pro.monthly", level: 2, days: 30),
    Plan(product: "pro.yearly", level: 2, days: 365),
    Plan(product: "basic.weekly", level: 3, days: 7),
    Plan(product: "basic.yearly", level: 3, days: 365),
  ]

  static let catalog = Catalog(
    apps: [CatalogApp(bundleID: "com.example.scribe", appAppleID: 1)],
    entitlements: plans.map { CatalogEntitlement(id: EntitlementID($0.product.rawValue)) },
    products: plans.map {
      CatalogProduct(
        id: $0.product, kind: .autoRenewable, group: "g1", level: $0.level,
        entitlements: [EntitlementID($0.product.rawValue)])
    })

  static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private(set) var transactions: [TransactionFact] = []
  private(set) var uses: [Use] = []
  private(set) var renewalInfo: RenewalInfoFact?
  private var random: SeededRandom
  /// Whether Apple says `transactionReason`. Receipts do not.
  private let tellsReasons: Bool
  private var now: Milliseconds = 1_767_225_600_000

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    tellsReasons = random.chance(2)
    buy(random.pick(Self.plans))
    for _ in 0..<random.number(1...6) { goOn() }
    if random.chance(2) { addRenewalInfo() }
    transactions.shuffle(using: &random)
  }

  var description: String {
    let transactions = transactions.sorted { $0.purchaseDate < $1.purchaseDate }.map { fact in
      "\(fact.transactionID) \(fact.productID) \(fact.transactionReason ?? "-") "
        + "\(fact.purchaseDate.rawValue)-\(fact.expiresDate?.rawValue ?? 0)"
        + (fact.isUpgraded ? " upgraded" : "")
    }
    let info = renewalInfo.map { "\($0.productID?.rawValue ?? "-") at \($0.signedDate)" } ?? "none"
    return transactions.joined(separator: "; ") + "; renewal info: \(info)"
  }

  var facts: [Fact] {
    transactions.map { .transaction($0) } + [renewalInfo].compactMap { $0.map { .renewalInfo($0) } }
  }

  /// The moments from which something may be new, and those before them.
  var moments: [Milliseconds] {
    let dates =
      uses.flatMap { [$0.from, $0.to] } + transactions.map(\.purchaseDate)
      + transactions.compactMap(\.expiresDate)
    return dates.flatMap { [$0, $0.advanced(by: -1)] }
  }

  func product(at moment: Milliseconds) -> ProductID? {
    uses.first { $0.from <= moment && moment < $0.to }?.product
  }

  // MARK: What happens

  /// The period at hand ends, in one of the ways in which it can.
  private mutating func goOn() {
    guard let current = uses.last, let plan = plan(of: current.product) else { return }
    let others = Self.plans.filter { $0.product != current.product }
    let immediate = others.filter {
      $0.level < plan.level || $0.level == plan.level && $0.days == plan.days
    }
    let atRenewal = others.filter { other in
      !immediate.contains { $0.product == other.product }
    }
    let next = random.chance(3) ? random.pick(atRenewal + [plan]) : plan
    let lead = min(Milliseconds.dayLength, min(next.days, plan.days) * Milliseconds.dayLength / 2)
    let charge = current.to.advanced(by: -Int64(random.number(1...Int(lead))))
    switch random.number(0...5) {
    case 0 where !immediate.isEmpty:
      // At any moment before the renewal is charged.
      let length = charge.rawValue - current.from.rawValue
      upgrade(to: random.pick(immediate), at: current.from.advanced(by: length / 3 + 1))
    case 1 where !immediate.isEmpty:
      // After the charge: the renewal is there, and never begins.
      renew(next, charged: charge)
      uses.removeLast()
      let left = Int(current.to.rawValue - charge.rawValue)
      takeBack(
        at: charge.advanced(by: Int64(random.number(0...(left - 1)))), to: random.pick(immediate))
    case 2:
      now = current.to.advanced(
        by: Int64(random.number(1...400)) * Milliseconds.hourLength + 1)
      buy(random.pick(Self.plans))
    default:
      renew(next, charged: charge)
    }
  }

  private mutating func buy(_ plan: Plan) {
    add(plan, from: now, reason: "PURCHASE", signed: now)
  }

  private mutating func renew(_ plan: Plan, charged: Milliseconds) {
    guard let current = uses.last else { return }
    add(plan, from: current.to, reason: "RENEWAL", signed: charged)
  }

  private mutating func upgrade(to plan: Plan, at moment: Milliseconds) {
    if random.chance(2) { transactions[transactions.count - 1].isUpgraded = true }
    uses[uses.count - 1].to = moment
    now = moment
    buy(plan)
  }

  /// An upgrade after the next renewal was charged: Apple takes the charge back.
  private mutating func takeBack(at moment: Milliseconds, to plan: Plan) {
    let charged = transactions.count - 1
    if random.chance(2) {
      transactions[charged].isUpgraded = true
      if random.chance(2) {
        transactions[charged].revocationDate = moment.advanced(by: 3_600_000)
      }
    }
    if random.chance(2) { transactions[charged - 1].isUpgraded = true }
    uses[uses.count - 1].to = moment
    now = moment
    buy(plan)
  }

  // MARK: Facts

  private mutating func add(
    _ plan: Plan, from start: Milliseconds, reason: String, signed: Milliseconds
  ) {
    let number = transactions.count + 1
    let end = start.advanced(by: plan.days * Milliseconds.dayLength)
    transactions.append(
      TransactionFact(
        bundleID: Self.scope.bundleID, environment: Self.scope.environment,
        originalTransactionID: "1", transactionID: TransactionID("\(number)"),
        productID: plan.product, type: .autoRenewable, purchaseDate: start,
        signedDate: signed.advanced(by: random.chance(3) ? 40 * Milliseconds.dayLength : 2_000),
        digest: PayloadDigest(words: (random.next(), random.next())), expiresDate: end,
        webOrderLineItemID: WebOrderLineItemID("\(500 + number)"), subscriptionGroupID: "g1",
        ownership: .purchased, transactionReason: tellsReasons ? reason : nil))
    uses.append(Use(product: plan.product, from: start, to: end))
  }

  /// A renewal info of some moment. It names the product of that moment.
  private mutating func addRenewalInfo() {
    let use = random.pick(uses)
    let length = use.to.rawValue - use.from.rawValue
    guard length > 20_000 else { return }
    var info = RenewalInfoFact(
      bundleID: Self.scope.bundleID, environment: Self.scope.environment,
      originalTransactionID: "1", signedDate: use.from.advanced(by: length / 2),
      digest: PayloadDigest(words: (random.next(), random.next())))
    info.productID = use.product
    info.autoRenewProductID = use.product
    info.autoRenews = false
    renewalInfo = info
  }

  private func plan(of product: ProductID) -> Plan? {
    Self.plans.first { $0.product == product }
  }
}
