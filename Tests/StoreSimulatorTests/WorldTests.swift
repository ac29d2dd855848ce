import CatalogFiles
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@Suite("A world of customers on a virtual clock")
struct WorldTests {
  static let start = Milliseconds(1_772_366_400_000)

  private static func begin(
    population: Int = 0, seed: UInt64 = 1, graceDays: Int64 = 16
  ) -> World {
    World.begin(
      World.Configuration(
        seed: seed, environment: .sandbox, start: start, population: population,
        graceDays: graceDays)
    ).world
  }

  private static func names(_ events: [WorldEvent]) -> [String] {
    events.compactMap(\.event.notification).map { notification in
      [notification.type, notification.subtype].compactMap { $0 }.joined(separator: " ")
    }
  }

  private static func after(days: Int64) -> Milliseconds {
    start.advanced(by: days * Milliseconds.dayLength)
  }

  @Test func `at the start each customer of the population is in the state of the life cycle`() {
    let world = Self.begin(population: 2 * LifeCycle.allCases.count)
    let population = Population(
      seed: 1, count: world.customerCount, now: Self.start, environment: .sandbox)
    for (index, customer) in population.customers.enumerated() {
      let expected = customer.timeline.expectation(at: Self.start)
      let states = world.expectedStates(of: index)
      #expect(states == [expected], "\(customer.timeline.lifeCycle)")
    }
  }

  @Test func `one step of time equals many small ones`() {
    var random = SeededRandom(for: "steps of a world")
    let configuration = World.Configuration(
      seed: random.next(), environment: .production, start: Self.start, population: 100)
    var (whole, past) = World.begin(configuration)
    var (stepped, samePast) = World.begin(configuration)
    #expect(past == samePast)
    let end = Self.after(days: 400)
    let events = whole.advance(to: end)
    var parts: [WorldEvent] = []
    while stepped.now < end {
      let step = Int64.random(in: 1...9 * Milliseconds.dayLength, using: &random)
      parts += stepped.advance(to: min(end, stepped.now.advanced(by: step)))
    }
    #expect(events == parts)
    #expect(events.count > 500)
    #expect(events.map(\.event.at) == events.map(\.event.at).sorted())
  }

  @Test func `time stops after some events, and goes on from there`() {
    let configuration = World.Configuration(
      seed: 1, environment: .production, start: Self.start, population: 50)
    var (whole, _) = World.begin(configuration)
    var (stepped, _) = World.begin(configuration)
    let end = Self.after(days: 100)
    let events = whole.advance(to: end)
    var parts: [WorldEvent] = []
    while stepped.now < end {
      let part = stepped.advance(to: end, maximumEvents: 10)
      #expect(part.count < 20)
      parts += part
    }
    #expect(events == parts && events.count > 50)
  }

  @Test func `the same seed and actions give the same events`() throws {
    func events() throws -> [WorldEvent] {
      var world = Self.begin(population: 10, seed: 7)
      var events = try world.buy(SimulatedApp.proMonthly.id, by: "first").events
      events += world.advance(to: Self.after(days: 40))
      events += try world.cancel("first").events
      events += world.advance(to: Self.after(days: 70))
      return events
    }
    #expect(try events() == (try events()))
  }

  @Test func `a subscription renews each month until it is cancelled`() throws {
    var world = Self.begin()
    let bought = try world.buy(SimulatedApp.proMonthly.id, by: nil)
    #expect(Self.names(bought.events) == ["SUBSCRIBED INITIAL_BUY"])
    #expect(Self.names(world.advance(to: Self.after(days: 62))) == ["DID_RENEW", "DID_RENEW"])
    let name = world.summary(of: bought.customer).name
    #expect(
      Self.names(try world.cancel(name).events)
        == ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED"])
    #expect(
      Self.names(try world.resume(name).events)
        == ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED"])
    _ = try world.cancel(name)
    #expect(Self.names(world.advance(to: Self.after(days: 200))) == ["EXPIRED VOLUNTARY"])
    #expect(
      Self.names(try world.buy(SimulatedApp.basicMonthly.id, by: name).events)
        == ["SUBSCRIBED RESUBSCRIBE"])
  }

  @Test(
    "A charge that fails leads to grace, retry and the end",
    arguments: [
      (16, ["DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED BILLING_RETRY"]),
      (0, ["DID_FAIL_TO_RENEW", "EXPIRED BILLING_RETRY"]),
    ] as [(Int64, [String])])
  func failure(graceDays: Int64, expected: [String]) throws {
    var world = Self.begin(graceDays: graceDays)
    _ = try world.buy(SimulatedApp.proMonthly.id, by: "payer")
    #expect(Self.names(try world.changeCard(of: "payer", works: false).events).isEmpty)
    #expect(Self.names(world.advance(to: Self.after(days: 200))) == expected)
    #expect(world.expectedStates(of: 0).map(\.status) == [.expired])
  }

  @Test func `a card that works again ends grace and retry`() throws {
    for (days, begins) in [(35, "old end"), (60, "payment")] as [(Int64, String)] {
      var world = Self.begin()
      _ = try world.buy(SimulatedApp.basicMonthly.id, by: "payer")
      _ = try world.changeCard(of: "payer", works: false)
      _ = world.advance(to: Self.after(days: days))
      let paid = try world.changeCard(of: "payer", works: true)
      #expect(Self.names(paid.events) == ["DID_RENEW BILLING_RECOVERY"])
      let periods = world.records.transactions(of: 0).map(\.payload)
      let begin = begins == "payment" ? paid.at : periods[0].expiresDate
      #expect(periods.last?.purchaseDate == begin, "\(begins)")
      #expect(world.expectedStates(of: 0).map(\.status) == [.active])
    }
  }

  @Test func `an upgrade takes place at once, a downgrade at the renewal`() throws {
    var world = Self.begin()
    _ = try world.buy(SimulatedApp.basicMonthly.id, by: "one")
    let up = try world.changeProduct(of: "one", to: SimulatedApp.proMonthly.id)
    #expect(Self.names(up.events) == ["DID_CHANGE_RENEWAL_PREF UPGRADE"])
    #expect(up.events.first?.event.transactions.map(\.isUpgraded) == [nil, true])
    let down = try world.changeProduct(of: "one", to: SimulatedApp.basicMonthly.id)
    #expect(Self.names(down.events) == ["DID_CHANGE_RENEWAL_PREF DOWNGRADE"])
    #expect(world.expectedStates(of: 0).first?.pendingProductID == SimulatedApp.basicMonthly.id)
    let withdrawn = try world.changeProduct(of: "one", to: SimulatedApp.proMonthly.id)
    #expect(Self.names(withdrawn.events) == ["DID_CHANGE_RENEWAL_PREF"])
    _ = try world.changeProduct(of: "one", to: SimulatedApp.proYearly.id)
    _ = world.advance(to: Self.after(days: 40))
    #expect(world.expectedStates(of: 0).first?.product == SimulatedApp.proYearly)
  }

  @Test func `family members follow the payer until sharing ends`() throws {
    var world = Self.begin()
    _ = try world.buy(SimulatedApp.proMonthly.id, by: "payer")
    #expect(
      Self.names(try world.share("payer", with: "member").events) == ["SUBSCRIBED INITIAL_BUY"])
    #expect(Self.names(world.advance(to: Self.after(days: 40))) == ["DID_RENEW", "DID_RENEW"])
    let paid = try #require(world.records.chains(of: 0).first?.payload)
    let refunded = try world.refund(paid.transactionID)
    #expect(Self.names(refunded.events) == ["REFUND", "REVOKE"])
    #expect(
      Self.names(try world.reverseRefund(of: paid.transactionID).events)
        == ["REFUND_REVERSED", "REFUND_REVERSED"])
    #expect(Self.names(try world.stopSharing("member").events) == ["REVOKE"])
    #expect(world.expectedStates(of: 1).map(\.status) == [.revoked])
    #expect(world.expectedStates(of: 0).map(\.status) == [.active])
  }

  @Test func `a price increase without consent ends the subscription`() throws {
    for consents in [true, false] {
      var world = Self.begin()
      _ = try world.buy(SimulatedApp.basicMonthly.id, by: "one")
      #expect(
        Self.names(try world.raisePrice(of: "one", to: 5_990).events) == ["PRICE_INCREASE PENDING"])
      if consents {
        #expect(Self.names(try world.consent("one").events) == ["PRICE_INCREASE ACCEPTED"])
      }
      let names = Self.names(world.advance(to: Self.after(days: 32)))
      #expect(names == [consents ? "DID_RENEW" : "EXPIRED PRICE_INCREASE"])
      #expect(!consents || world.records.chains(of: 0).first?.payload.price == 5_990)
    }
  }

  @Test func `a mass extension extends all active subscriptions of a product`() throws {
    var world = Self.begin()
    for name in ["a", "b", "c"] { _ = try world.buy(SimulatedApp.proMonthly.id, by: name) }
    _ = try world.buy(SimulatedApp.basicMonthly.id, by: "d")
    let request = MassExtension.Request(
      identifier: "x", productID: SimulatedApp.proMonthly.id, days: 7, countries: [])
    for _ in 0..<2 {
      let chain = try #require(world.records.chains(of: 0).first?.payload)
      _ = try world.extendRenewalDate(of: chain.originalTransactionID, days: 1)
    }
    world.requestMassExtension(request)
    #expect(world.massExtension("x", of: request.productID)?.isComplete == false)
    let names = Self.names(world.advance(to: Self.after(days: 1)))
    #expect(
      names.sorted() == [
        "RENEWAL_EXTENDED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION FAILURE",
        "RENEWAL_EXTENSION SUMMARY",
      ])
    let done = try #require(world.massExtension("x", of: request.productID))
    #expect(done.isComplete && done.succeededCount == 2 && done.failedCount == 1)
  }

  @Test func `refused actions say why and change nothing`() throws {
    var world = Self.begin()
    _ = try world.buy(SimulatedApp.proMonthly.id, by: "one")
    _ = try world.buy(SimulatedApp.adFree.id, by: "one")
    let states = world.expectedStates(of: 0)
    let refusals: [(WorldRefusal.Code, (inout World) throws(WorldRefusal) -> Void)] = [
      (
        .impossible,
        { world throws(WorldRefusal) in
          _ = try world.buy(SimulatedApp.proMonthly.id, by: "one")
        }
      ),
      (
        .impossible,
        { world throws(WorldRefusal) in
          _ = try world.buy(SimulatedApp.adFree.id, by: "one")
        }
      ),
      (
        .invalid, { world throws(WorldRefusal) in _ = try world.buy("com.example.none", by: "one") }
      ),
      (.impossible, { world throws(WorldRefusal) in _ = try world.resume("one") }),
      (.impossible, { world throws(WorldRefusal) in _ = try world.consent("one") }),
      (.impossible, { world throws(WorldRefusal) in _ = try world.stopSharing("one") }),
      (.notFound, { world throws(WorldRefusal) in _ = try world.cancel("nobody") }),
      (.notFound, { world throws(WorldRefusal) in _ = try world.refund("12") }),
    ]
    for (number, (code, action)) in refusals.enumerated() {
      do {
        try action(&world)
        Issue.record("\(number) was not refused")
      } catch {
        #expect(error.code == code, "\(number)")
      }
    }
    #expect(world.expectedStates(of: 0) == states)
  }

  @Test func `offers are in the first period`() throws {
    var world = Self.begin()
    _ = try world.buy(SimulatedApp.proMonthly.id, by: "one", offer: StoreOffer(.introductory))
    _ = world.advance(to: Self.after(days: 8))
    let periods = world.records.transactions(of: 0).map(\.payload)
    #expect(periods.map(\.price) == [0, 9_990])
    #expect(periods.map(\.offer?.discountType) == [.freeTrial, nil])
  }

  @Test func `a history gives what is new and changed after a position`() throws {
    var world = Self.begin()
    _ = try world.buy(SimulatedApp.basicMonthly.id, by: "one")
    for _ in 0..<24 { _ = try world.buy(SimulatedApp.tokens.id, by: "one") }
    func page(_ position: Int64?) -> StoreRecords.Page {
      world.records.history(
        of: 0, StoreRecords.Filter(), after: position, isDescending: false, count: 20)
    }
    let first = page(nil)
    #expect(first.transactions.count == 20 && first.hasMore)
    // Changed while it is paged: it comes again.
    let changed = first.transactions[3].transactionID
    _ = try world.refund(changed)
    let second = page(first.position)
    #expect(second.transactions.count == 6 && !second.hasMore)
    #expect(second.transactions.last?.transactionID == changed)
    #expect(page(second.position).transactions.isEmpty)
    let refunds = world.records.refunds(of: 0, after: nil, count: 20)
    #expect(refunds.transactions.map(\.transactionID) == [changed])
    // Another change does not make it a new refund.
    _ = world.setToken("7e3fb20b-4cdb-47cc-936d-99d65f608138", of: changed)
    #expect(page(second.position).transactions.map(\.transactionID) == [changed])
    #expect(
      world.records.refunds(of: 0, after: refunds.position, count: 20).transactions.isEmpty)
  }
}
