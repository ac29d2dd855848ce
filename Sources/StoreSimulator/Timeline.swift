package import EntitlementDomain

/// One customer's life cycle on the simulated clock: the signed events and the expected states. The
/// same arguments always give the same payloads.
package struct Timeline: Sendable {
  package let lifeCycle: LifeCycle
  package let start: Milliseconds
  /// All events, in the order of signing.
  package let events: [StoreEvent]
  /// The expected states, in intervals without gaps. The first one begins before every other time.
  package let intervals: [ExpectedInterval]
  let environment: StoreEnvironment
  /// The seed for the random values of the customer's device.
  let deviceSeed: UInt64

  /// A timeline that does not belong to a population.
  ///
  /// - Parameter start: the time of the first purchase, within ``SimulatedCalendar/range``.
  package init(
    _ lifeCycle: LifeCycle, seed: UInt64, start: Milliseconds,
    environment: StoreEnvironment = .production
  ) {
    self.init(
      lifeCycle, seed: seed, label: lifeCycle.rawValue, index: 0, start: start,
      environment: environment)
  }

  /// - Parameters:
  ///   - label: the namespace in which identifiers are unique.
  ///   - index: the customer's index in that namespace, from 0, below
  ///     ``StoreIdentifiers/maximumCustomers``.
  init(
    _ lifeCycle: LifeCycle, seed: UInt64, label: String, index: Int, start: Milliseconds,
    environment: StoreEnvironment
  ) {
    var generator = SeededGenerator(
      seed: seed, label: "\(label) details", index: UInt64(index))
    // Apps set a token for most purchases, but not for all: three of four customers have one.
    let hasToken = !generator.next().isMultiple(of: 4)
    var script = LifeCycleScript(
      start: start, environment: environment,
      identifiers: StoreIdentifiers(seed: seed, label: label, index: index, hasToken: hasToken),
      generator: generator)
    lifeCycle.story.write(&script)
    self.lifeCycle = lifeCycle
    self.start = start
    self.environment = environment
    var device = SeededGenerator(seed: seed, label: "\(label) device", index: UInt64(index))
    deviceSeed = device.next()
    events = script.events
    intervals = script.intervals
  }

  /// All events up to a time, inclusive.
  package func history(until moment: Milliseconds) -> [StoreEvent] {
    Array(events.prefix { $0.at <= moment })
  }

  /// The expected state at a time, when all events up to that time are known.
  package func expectation(at moment: Milliseconds) -> ExpectedState {
    // The first interval begins before every time, so one always matches.
    intervals.last { $0.from <= moment }?.state ?? .new
  }

  /// A time in the characteristic state of the life cycle.
  package var characteristicMoment: Milliseconds {
    start.adding(days: lifeCycle.characteristicDay)
  }
}
