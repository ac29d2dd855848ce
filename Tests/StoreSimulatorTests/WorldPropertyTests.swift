import AppStorePayloads
import CatalogFiles
import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

/// Random actions at random times: what a service computes from the facts equals the bookkeeping of
/// the world.
@Suite("The computed states are the ones that a world expects")
struct WorldPropertyTests {
  private static let products = SimulatedApp.products.map(\.id)

  /// What happened to each customer.
  private struct Known {
    var histories: [Int: [StoreEvent]] = [:]

    mutating func hear(_ events: [WorldEvent]) {
      for event in events {
        if let customer = event.customer { histories[customer, default: []].append(event.event) }
      }
    }
  }

  @Test func `after random actions`() throws {
    let catalog = try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
    var random = SeededRandom(for: "random actions of a world")
    for round in Rounds(60, of: "random actions of a world", within: .seconds(5)) {
      let (begun, past) = World.begin(
        World.Configuration(
          seed: random.next(), environment: .production, start: WorldTests.start,
          population: LifeCycle.allCases.count,
          graceDays: [0, 3, 16, 28].randomElement(using: &random) ?? 0))
      var world = begun
      var known = Known()
      known.hear(past)
      for step in 0..<60 {
        let action = Self.act(&world, &random)
        known.hear(action.events)
        known.hear(world.advance(to: world.now))
        for index in 0..<world.customerCount
        where action.isTime || index % 7 == step % 7 || index >= LifeCycle.allCases.count {
          let place = "round \(round), step \(step), \(action.name), \(world.summary(of: index))"
          try Self.compare(world, index, known.histories[index] ?? [], catalog, place)
        }
      }
      // What requests are answered gives the same states as what was announced.
      for index in 0..<world.customerCount {
        try Self.compare(
          world, index, Self.fetched(world, index), catalog, "round \(round), fetched \(index)")
      }
    }
  }

  private static func compare(
    _ world: World, _ index: Int, _ history: [StoreEvent], _ catalog: Catalog, _ place: String
  ) throws {
    let state = Evaluation.state(
      of: try EngineAgreementTests.record(of: history), catalog: catalog, at: world.now)
    for expected in world.expectedStates(of: index) {
      var told = EngineAgreementTests.summary(of: state, asked: expected)
      // The customer may have other products.
      told.coreState = expected.coreState
      told.entitlements = expected.entitlements
      #expect(told == expected, "\(place)")
    }
    let entitlements = Set(world.expectedStates(of: index).flatMap(\.entitlements))
    #expect(Set(state.entitlements.map(\.entitlementID)) == entitlements, "\(place)")
  }

  /// What the App Store Server API says of a customer now.
  private static func fetched(_ world: World, _ index: Int) -> [StoreEvent] {
    let stored = world.records.customers[index]
    return world.records.transactions(of: index).map { transaction in
      var payload = transaction.payload
      payload.signedDate = world.now
      var renewalInfo = stored.renewalInfos[payload.originalTransactionID]
      renewalInfo?.signedDate = world.now
      return StoreEvent(at: world.now, transactions: [payload], renewalInfo: renewalInfo)
    }
  }

  private static func act(
    _ world: inout World, _ random: inout SeededRandom
  ) -> (name: String, events: [WorldEvent], isTime: Bool) {
    if Int.random(in: 0..<3, using: &random) == 0 {
      let step = Int64.random(in: 1...20 * Milliseconds.dayLength, using: &random)
      return ("time", world.advance(to: world.now.advanced(by: step)), true)
    }
    let index = Int.random(in: 0..<world.customerCount, using: &random)
    let name = world.summary(of: index).name
    let product = products.randomElement(using: &random) ?? SimulatedApp.adFree.id
    let transaction =
      world.records.customers[index].transactionIDs.randomElement(using: &random) ?? "1"
    // Refused actions are part of the test.
    switch Int.random(in: 0..<13, using: &random) {
    case 0: return ("buy", (try? world.buy(product, by: name))?.events ?? [], false)
    case 1: return ("buy anew", (try? world.buy(product, by: nil))?.events ?? [], false)
    case 2: return ("cancel", (try? world.cancel(name))?.events ?? [], false)
    case 3: return ("resume", (try? world.resume(name))?.events ?? [], false)
    case 4:
      return ("change", (try? world.changeProduct(of: name, to: product))?.events ?? [], false)
    case 5:
      return ("fails", (try? world.changeCard(of: name, works: false))?.events ?? [], false)
    case 6:
      return ("works", (try? world.changeCard(of: name, works: true))?.events ?? [], false)
    case 7: return ("refund", (try? world.refund(transaction))?.events ?? [], false)
    case 8:
      return ("reverse", (try? world.reverseRefund(of: transaction))?.events ?? [], false)
    case 9: return ("share", (try? world.share(name, with: nil))?.events ?? [], false)
    case 10: return ("unshare", (try? world.stopSharing(name))?.events ?? [], false)
    case 11:
      return ("price", (try? world.raisePrice(of: name, to: 20_000))?.events ?? [], false)
    default:
      let chain = OriginalTransactionID(transaction.rawValue)
      let days = Int64.random(in: 1...90, using: &random)
      return (
        "extend", (try? world.extendRenewalDate(of: chain, days: days))?.events ?? [], false
      )
    }
  }
}
