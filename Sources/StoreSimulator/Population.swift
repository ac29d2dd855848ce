package import EntitlementDomain

/// Many customers from one seed, in turn in each of the life cycles, and each in the state that its
/// life cycle is named after.
///
/// A customer does not depend on how many others there are. Within one day (UTC) the same seed gives
/// the same payloads; on the next day the same purchases a day later.
package struct Population: Sendable {
  /// The most customers that one population has.
  package static let maximumCount = StoreIdentifiers.maximumCustomers

  package let seed: UInt64
  /// At most ``maximumCount``.
  package let count: Int
  package let environment: StoreEnvironment
  /// The moment up to which the App Store has signed.
  package let now: Milliseconds

  /// - Parameters:
  ///   - count: from 0 to ``maximumCount``.
  ///   - now: within ``SimulatedCalendar/range``.
  package init(
    seed: UInt64, count: Int, now: Milliseconds, environment: StoreEnvironment = .production
  ) {
    self.seed = seed
    self.count = count
    self.now = now
    self.environment = environment
  }

  /// - Parameter index: from 0, below ``count``.
  package func customer(at index: Int) -> SimulatedCustomer {
    let lifeCycle = LifeCycle.allCases[index % LifeCycle.allCases.count]
    // The hour of the start lies within the day that the characteristic state lasts at least.
    var clock = SeededGenerator(seed: seed, label: "hours", index: UInt64(index))
    let start = SimulatedCalendar.floorDay(now)
      .adding(days: -lifeCycle.characteristicDay)
      .advanced(by: Int64(clock.number(below: Int(Milliseconds.dayLength))))
    let timeline = Timeline(
      lifeCycle, seed: seed, label: "population", index: index, start: start,
      environment: environment)
    return SimulatedCustomer(accountID: Self.accountID(at: index), timeline: timeline)
  }

  /// The customers in their order, each made when it is asked for.
  package var customers: some Sequence<SimulatedCustomer> {
    (0..<count).lazy.map { customer(at: $0) }
  }

  /// `customer-001` for the first.
  private static func accountID(at index: Int) -> AccountID {
    let number = String(index + 1)
    let padding = String(repeating: "0", count: max(0, 3 - number.count))
    return AccountID("customer-\(padding)\(number)")
  }
}

/// One customer of a ``Population``.
package struct SimulatedCustomer: Sendable {
  package let accountID: AccountID
  package let timeline: Timeline
}
