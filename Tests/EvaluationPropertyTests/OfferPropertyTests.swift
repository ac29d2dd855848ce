import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: who may have which offer")
struct OfferPropertyTests {
  private static let ids: [OfferID] = ["half", "free"]

  /// The catalog of a customer, with offers of every form.
  private func catalog(_ customer: inout RandomCustomer) -> Catalog {
    var catalog = customer.catalog
    for id in catalog.products.keys.sorted() where catalog.products[id]?.group != nil {
      var offers = [
        CatalogOffer(kind: .introductory, situations: [.new, .lapsed, .refunded])
      ]
      for offer in Self.ids {
        let situations = Set(customer.random.some(of: OfferSituation.allCases))
        offers.append(
          CatalogOffer(
            id: offer, kind: .promotional,
            situations: situations.isEmpty ? [.lapsed] : situations,
            lapsedFor: customer.random.chance(3) ? CalendarDuration(days: 20) : nil,
            onlyIfTrialUnused: customer.random.chance(4),
            times: customer.random.pick([1, 2, 3, nil]),
            againAfter: customer.random.chance(4) ? CalendarDuration(months: 2) : nil))
      }
      catalog.products[id]?.offers = offers
    }
    return catalog
  }

  /// Facts as those of the customer, many of them under a promotional offer. The digest of a fact
  /// decides, since repeats of a fact are the same.
  private func facts(_ customer: RandomCustomer) -> [Fact] {
    customer.record.facts.map { fact in
      var random = SeededRandom(
        seed: fact.digest.hexadecimal.utf8.reduce(customer.seed) { $0 &* 31 &+ UInt64($1) })
      guard random.chance(2) else { return fact }
      let offer = Offer(
        type: .promotional, identifier: random.pick(Self.ids).rawValue,
        discountType: random.pick([.payAsYouGo, .payUpFront, .freeTrial, nil]))
      switch fact {
      case .transaction(var fact):
        fact.offer = offer
        fact.ownership = random.pick([.purchased, .purchased, .familyShared, nil])
        return .transaction(fact)
      case .renewalInfo(var fact):
        fact.renewalOffer = offer
        return .renewalInfo(fact)
      case .appTransaction: return fact
      }
    }
  }

  private func verdicts(
    _ customer: RandomCustomer, _ facts: [Fact], _ catalog: Catalog, at now: Milliseconds
  ) -> ([OfferVerdict], String?)? {
    var record = customer.record
    record.facts = facts
    guard let eligibility = OfferEligibility(of: record, catalog: catalog, at: now) else {
      return nil
    }
    let verdicts = catalog.productsWithOffers(of: RandomCatalog.bundleID).flatMap { product in
      product.offers.map { eligibility.verdict(on: $0, of: product) }
    }
    return (verdicts, record.transactionForOffers(at: now))
  }

  @Test("R82, R83, R84: order and repeats of the same facts give the same verdicts (R3)")
  func order() throws {
    try RandomCustomers.expect("offers in any order") { customer in
      let now = customer.clock()
      let catalog = catalog(&customer)
      let facts = facts(customer)
      guard let expected = verdicts(customer, facts, catalog, at: now) else {
        return "an evaluation without a check was cancelled"
      }
      var others = facts + customer.random.some(of: facts)
      others.shuffle(using: &customer.random)
      guard let found = verdicts(customer, others, catalog, at: now) else {
        return "an evaluation without a check was cancelled"
      }
      return found == expected ? nil : "another order gives other verdicts at \(now)"
    }
  }

  @Test("R82, R83: a promised moment is the first at which time alone makes a customer eligible")
  func promisedMoment() throws {
    try RandomCustomers.expect("promised moments of offers") { customer in
      let now = customer.clock()
      let catalog = catalog(&customer)
      let facts = facts(customer)
      for verdict in verdicts(customer, facts, catalog, at: now)?.0 ?? [] {
        guard let moment = verdict.eligibleAt else { continue }
        if verdict.isEligible { return "an eligible customer is promised a moment" }
        if moment <= now { return "the promised moment \(moment) is not after \(now)" }
        // Other things may change until then; then this refusal is not the last one.
        if mayChange(facts, catalog, after: now, until: moment) { continue }
        func isEligible(at moment: Milliseconds) -> Bool? {
          verdicts(customer, facts, catalog, at: moment)?.0.first {
            $0.productID == verdict.productID && $0.offer == verdict.offer
          }?.isEligible
        }
        let name = verdict.offer.id?.rawValue ?? "-"
        if isEligible(at: moment.advanced(by: -1)) != false {
          return "\(name) is given before \(moment)"
        }
        if isEligible(at: moment) != true { return "\(name) is not given at \(moment)" }
      }
      return nil
    }
  }

  /// Whether anything but the promise may change: the moments of all facts, with the leeway and the
  /// time for which Apple retries a charge (R20, R24).
  private func mayChange(
    _ facts: [Fact], _ catalog: Catalog, after now: Milliseconds, until moment: Milliseconds
  ) -> Bool {
    let lengths: [Int64] = [0, catalog.renewalLeeway, 60 * 86_400_000]
    return facts.contains { fact in
      let moments: [Milliseconds?] =
        switch fact {
        case .transaction(let fact):
          [fact.purchaseDate, fact.expiresDate, fact.revocationDate, fact.signedDate]
        case .renewalInfo(let fact):
          [fact.gracePeriodExpiresDate, fact.renewalDate, fact.signedDate]
        case .appTransaction: []
        }
      return moments.contains { start in
        guard let start else { return false }
        return lengths.contains {
          let change = start.advanced(by: $0)
          return now < change && change <= moment
        }
      }
    }
  }
}
