package import EntitlementDomain

/// Many customers from one seed. They take the life cycles in turn, and each is in the
/// characteristic state of its life cycle.
///
/// A customer does not depend on the size of the population. Within one day (UTC) the same seed
/// gives the same payloads; on the next day it gives the same purchases, one day later.
package struct Population: Sendable {
  /// The maximum size of a population.
  package static let maximumCount = StoreIdentifiers.maximumCustomers

  package let seed: UInt64
  /// At most ``maximumCount``.
  package let count: Int
  package let environment: StoreEnvironment
  /// The current time. All events up to it are signed.
  package let now: Milliseconds

  /// - Parameters:
  ///   - count: from 0 to ``maximumCount``.
  ///   - now: within ``SimulatedCalendar/range``.
  package init(
    seed: UInt64, count: Int, now: Milliseconds, environment: StoreEnvironment
  ) {
    self.seed = seed
    self.count = count
    self.now = now
    self.environment = environment
  }

  /// - Parameter index: from 0, below ``count``.
  package func customer(at index: Int) -> SimulatedCustomer {
    let lifeCycle = LifeCycle.allCases[index % LifeCycle.allCases.count]
    // A random time of the day. The characteristic state lasts for at least a day.
    var clock = SeededGenerator(seed: seed, label: "hours", index: UInt64(index))
    let start = SimulatedCalendar.floorDay(now)
      .adding(days: -lifeCycle.characteristicDay)
      .advanced(by: Int64(clock.number(below: Int(Milliseconds.dayLength))))
    let timeline = Timeline(
      lifeCycle, seed: seed, label: "population", index: index, start: start,
      environment: environment)
    return SimulatedCustomer(accountID: Self.accountID(at: index), timeline: timeline)
  }

  /// The customers in order, made lazily.
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
