import EntitlementDomain
import TestSupport

/// One-time purchases as the App Store makes them. Restored, a purchase gets another transaction id; its
/// original id and its dates stay. Bought again, it has an original id of its own. A refund names one of
/// the ids, and is of the purchase.
struct OneTimeStory: CustomStringConvertible {
  private struct Purchase {
    let product: ProductID
    let boughtAt: Milliseconds
    var refundedAt: Milliseconds?
  }

  private static let passLength = 30 * Milliseconds.dayLength

  static let catalog = Catalog(
    apps: [CatalogApp(bundleID: "com.example.scribe", appAppleID: 1)],
    entitlements: [CatalogEntitlement(id: "ad_free"), CatalogEntitlement(id: "pass")],
    products: [
      CatalogProduct(id: "adfree", kind: .nonConsumable, entitlements: ["ad_free"]),
      CatalogProduct(
        id: "pass", kind: .nonRenewing, duration: CalendarDuration(days: 30), stacking: true,
        entitlements: ["pass"]),
    ])

  private(set) var facts: [Fact] = []
  private var purchases: [Purchase] = []
  private var random: SeededRandom
  private var lastID = 0

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    var day = 0
    for _ in 0..<random.number(1...4) {
      day += random.number(1...20)
      buy(random.pick(["adfree", "pass"]), at: moment(of: day))
    }
    facts.shuffle(using: &random)
  }

  var description: String {
    purchases.map { purchase in
      "\(purchase.product) \(purchase.boughtAt.rawValue)-\(purchase.refundedAt?.rawValue ?? 0)"
    }.joined(separator: "; ")
  }

  var moments: [Milliseconds] {
    purchases.flatMap { purchase in
      [purchase.boughtAt, purchase.refundedAt, purchase.boughtAt.advanced(by: Self.passLength)]
        .compactMap { $0 }
    } + (0..<8).map { moment(of: $0 * 20) }
  }

  /// The entitlements, each with the number of purchases that confer it.
  func entitlements(at moment: Milliseconds) -> [String] {
    let adFree = purchases.filter { purchase in
      purchase.product == "adfree" && purchase.boughtAt <= moment
        && purchase.refundedAt.map { moment < $0 } ?? true
    }.count
    // Each pass begins when the one before it ends, or was refunded.
    var free = Milliseconds(.min)
    var passes = 0
    for purchase in purchases where purchase.product == "pass" {
      let start = max(purchase.boughtAt, free)
      let end = start.advanced(by: Self.passLength)
      free = max(free, purchase.refundedAt.map { min(end, $0) } ?? end)
      let last = purchase.refundedAt.map { min(end, $0) } ?? end
      if start <= moment, moment < last { passes += 1 }
    }
    return (adFree > 0 ? ["ad_free by \(adFree)"] : []) + (passes > 0 ? ["pass by \(passes)"] : [])
  }

  private func moment(of day: Int) -> Milliseconds {
    Milliseconds(1_767_225_600_000 + Int64(day) * Milliseconds.dayLength)
  }

  private mutating func buy(_ product: ProductID, at date: Milliseconds) {
    var purchase = Purchase(product: product, boughtAt: date)
    if random.chance(2) {
      purchase.refundedAt = date.advanced(by: Int64(random.number(1...900)) * 3_600_000)
    }
    purchases.append(purchase)
    lastID += 1
    let original = "\(lastID)"
    let ids = random.number(1...3)
    let refunded = random.number(0...(ids - 1))
    for number in 0..<ids {
      if number > 0 { lastID += 1 }
      // Later ids may be signed later than the refund.
      let signed = date.advanced(by: Int64(random.number(0...1_000)) * 3_600_000)
      var fact = TransactionFact(
        bundleID: BillingStory.scope.bundleID, environment: .production,
        originalTransactionID: OriginalTransactionID(original),
        transactionID: TransactionID("\(lastID)"), productID: product,
        type: product == "pass" ? .nonRenewing : .nonConsumable, purchaseDate: date,
        signedDate: signed, digest: PayloadDigest(words: (random.next(), random.next())),
        originalPurchaseDate: random.chance(2) ? date : nil, ownership: .purchased)
      if number == refunded { fact.revocationDate = purchase.refundedAt }
      // A receipt may be all that is known of an id. It has neither type nor ownership.
      if random.chance(4) {
        fact.authority = .receipt
        fact.type = ProductType(rawValue: "")
        fact.ownership = nil
      }
      facts.append(.transaction(fact))
    }
  }
}
