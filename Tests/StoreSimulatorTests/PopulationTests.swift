import EntitlementDomain
import StoreSimulator
import Testing

@Suite("Populations")
struct PopulationTests {
  /// 2025-11-21 15:37 UTC.
  static let now: Milliseconds = 1_763_739_420_000

  @Test("Each customer is in the state that its life cycle is named after, at any hour of the day")
  func characteristicStates() {
    for hour in stride(from: Int64(0), to: 24, by: 5) {
      let now = SimulatedCalendar.floorDay(Self.now).advanced(by: hour * Milliseconds.hourLength)
      for customer in Population(seed: 3, count: 60, now: now, environment: .production).customers {
        let timeline = customer.timeline
        #expect(
          timeline.expectation(at: now)
            == timeline.expectation(at: timeline.characteristicMoment))
        #expect(
          timeline.history(until: now) == timeline.history(until: timeline.characteristicMoment))
      }
    }
  }

  @Test("Life cycles alternate, and accounts are numbered")
  func turns() {
    let customers = Array(
      Population(seed: 3, count: 1_001, now: Self.now, environment: .production).customers)
    let cycle = LifeCycle.allCases
    for (index, customer) in customers.enumerated() {
      #expect(customer.timeline.lifeCycle == cycle[index % cycle.count])
    }
    #expect(customers[0].accountID == "customer-001")
    #expect(customers[99].accountID == "customer-100")
    #expect(customers[1_000].accountID == "customer-1001")
  }

  @Test("No two customers share a chain, an app transaction, a token or a notification")
  func separation() {
    let customers = Array(
      Population(seed: 3, count: 500, now: Self.now, environment: .production).customers)
    var owners: [String: Int] = [:]
    for (index, customer) in customers.enumerated() {
      for event in customer.timeline.events {
        var identifiers = event.transactions.flatMap { transaction in
          [
            transaction.transactionID.rawValue, transaction.originalTransactionID.rawValue,
            transaction.appTransactionID?.rawValue, transaction.appAccountToken?.rawValue,
            transaction.webOrderLineItemID?.rawValue,
          ].compactMap { $0 }
        }
        identifiers += [event.notification?.uuid.rawValue].compactMap { $0 }
        for identifier in identifiers {
          #expect(owners.updateValue(index, forKey: identifier) ?? index == index)
        }
      }
    }
    // Some have a token and some have none.
    let tokens = customers.filter { customer in
      customer.timeline.events.contains {
        $0.transactions.contains { $0.appAccountToken != nil }
      }
    }
    #expect(tokens.count > 250 && tokens.count < 500)
  }

  @Test(
    "Within a day the same seed gives the same payloads; a day later the same chains a day later")
  func repetition() {
    let now = SimulatedCalendar.floorDay(Self.now)
    let later = now.advanced(by: Milliseconds.dayLength - 1)
    let tomorrow = now.advanced(by: Milliseconds.dayLength)
    let first = Population(seed: 3, count: 40, now: now, environment: .production)
    let same = Population(seed: 3, count: 50, now: later, environment: .production)
    let next = Population(seed: 3, count: 40, now: tomorrow, environment: .production)
    for index in 0..<40 {
      let events = first.customer(at: index).timeline.events
      #expect(events == same.customer(at: index).timeline.events)
      let shifted = next.customer(at: index).timeline.events
      #expect(
        events.map { $0.transactions.map(\.transactionID) }
          == shifted.map { $0.transactions.map(\.transactionID) })
      #expect(events.first?.at.advanced(by: Milliseconds.dayLength) == shifted.first?.at)
      #expect(events.first?.notification?.uuid != shifted.first?.notification?.uuid)
    }
  }

  @Test("The environment is in every payload")
  func environment() {
    let population = Population(seed: 3, count: 30, now: Self.now, environment: .sandbox)
    for event in population.customers.flatMap(\.timeline.events) {
      #expect(event.transactions.allSatisfy { $0.environment == .sandbox })
      #expect(event.renewalInfo.map { $0.environment == .sandbox } ?? true)
      #expect(event.appTransaction.map { $0.environment == .sandbox } ?? true)
      #expect(event.notification.map { $0.environment == .sandbox } ?? true)
    }
  }
}
