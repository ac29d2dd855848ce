package import EntitlementDomain

/// One customer's life cycle on the simulated clock: what the App Store signs when, and what must be
/// said of the customer. The same arguments always give the same payloads.
package struct Timeline: Sendable {
  package let lifeCycle: LifeCycle
  package let start: Milliseconds
  /// Everything that is ever signed, in the order of signing.
  package let events: [StoreEvent]
  /// Spans of time without gaps, the first from the beginning of time.
  package let stretches: [ExpectedStretch]
  let environment: StoreEnvironment
  /// What is random about the customer's device.
  let deviceSeed: UInt64

  /// A timeline on its own.
  ///
  /// - Parameter start: of the first purchase, within ``SimulatedCalendar/range``.
  package init(
    _ lifeCycle: LifeCycle, seed: UInt64, start: Milliseconds,
    environment: StoreEnvironment = .production
  ) {
    self.init(
      lifeCycle, seed: seed, label: lifeCycle.rawValue, index: 0, start: start,
      environment: environment)
  }

  /// - Parameters:
  ///   - label: names the world in which identifiers are not given twice.
  ///   - index: of the customer in that world, from 0, below ``StoreIdentifiers/maximumCustomers``.
  init(
    _ lifeCycle: LifeCycle, seed: UInt64, label: String, index: Int, start: Milliseconds,
    environment: StoreEnvironment
  ) {
    var generator = SeededGenerator(
      seed: seed, label: "\(label) details", index: UInt64(index))
    // Most apps that use server notifications set a token; some purchases go without.
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
    stretches = script.stretches
  }

  /// Everything signed up to a moment, that moment included.
  package func history(until moment: Milliseconds) -> [StoreEvent] {
    Array(events.prefix { $0.at <= moment })
  }

  /// What must be said at a moment when everything signed up to it is known.
  package func expectation(at moment: Milliseconds) -> ExpectedState {
    // The first stretch begins before every moment, so there always is one.
    stretches.last { $0.from <= moment }?.state ?? .new
  }

  /// A moment in the state that the life cycle is named after.
  package var characteristicMoment: Milliseconds {
    start.adding(days: lifeCycle.characteristicDay)
  }
}
