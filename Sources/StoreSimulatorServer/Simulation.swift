package import EntitlementDomain
package import StoreSimulator

/// A simulated App Store that runs: its world on a virtual clock, its outbox, and the clients
/// waiting for a revision of the clock.
package actor Simulation {
  package struct Configuration: Sendable {
    package var world: World.Configuration
    /// Nil for a clock that is the system's.
    package var speed: Double?
    /// Of Apple's rate limits.
    package var rateFactor = 1.0
    /// What became of the notifications of the population's past.
    package var past = Past.deliver
    /// How long nothing is posted, and an advance not answered, until the clients that follow the
    /// clock have asked again.
    package var followerPatience = StoreServerLimits.followers

    package init(world: World.Configuration, speed: Double? = 1) {
      self.world = world
      self.speed = speed
    }
  }

  /// What became of notifications that were signed before the start.
  package enum Past: String, CaseIterable, Sendable {
    /// They are sent at the start.
    case deliver
    /// They could not be sent.
    case missed
    /// They were sent.
    case sent
  }

  let configuration: Configuration
  let authority: SigningAuthority
  let key: StoreAPIKey
  /// Nil when no URL is configured for notifications: then none is kept.
  let sender: NotificationSender?
  /// The real time.
  private let realTime: @Sendable () -> Milliseconds

  var world: World
  var outbox: NotificationOutbox
  var faults: FaultPlan
  var clock: StoreClock
  var rates: StoreRateLimits
  var consumption: [ReceivedConsumption] = []
  let waiting = ClockWaiters()
  /// Ends when the clients that follow the clock know its latest change.
  var notifying: Task<Void, Never>?
  /// The batch that is being sent; nil for none.
  var sending: Task<PlayTally, Never>?
  var isStopping = false

  /// - Parameter realTime: the real time: tokens are checked against it, and rates.
  /// - Throws: ``SimulatorError`` when a notification of the past cannot be signed.
  package init(
    _ configuration: Configuration, authority: SigningAuthority, key: StoreAPIKey,
    sender: NotificationSender?, realTime: @escaping @Sendable () -> Milliseconds
  ) throws(SimulatorError) {
    self.configuration = configuration
    self.authority = authority
    self.key = key
    self.sender = sender
    self.realTime = realTime
    let environment = configuration.world.environment
    let (world, past) = World.begin(configuration.world)
    self.world = world
    var outbox = NotificationOutbox(environment: environment)
    if sender != nil {
      for event in past {
        guard let notification = event.event.notification,
          let signed = try authority.sign(event.event).notification
        else { continue }
        switch configuration.past {
        case .deliver:
          outbox.add(event, notification: notification, signedPayload: signed, due: world.now)
        case .missed, .sent:
          outbox.addPast(
            event, notification: notification, signedPayload: signed,
            result: configuration.past == .sent ? .success : .noResponse)
        }
      }
    }
    self.outbox = outbox
    faults = FaultPlan(seed: configuration.world.seed)
    clock = StoreClock(
      start: configuration.speed == nil ? nil : configuration.world.start,
      speed: configuration.speed ?? 1, real: realTime())
    rates = StoreRateLimits(environment: environment, factor: configuration.rateFactor)
  }

  /// How many clients wait for a change of the clock.
  package var followerCount: Int { waiting.count }

  var realNow: Milliseconds { realTime() }

  var environment: StoreEnvironment { configuration.world.environment }

  // MARK: Time

  /// Events that happen in one step. Requests are answered between two steps.
  private static let eventsInStep = 1_000

  /// Lets happen what is due by the clock, one step at most: at a high speed the world may be
  /// behind the clock, until ``run()`` has caught up.
  ///
  /// - Throws: ``SimulatorError`` when it cannot be signed.
  func catchUp() throws(SimulatorError) {
    let now = clock.now(real: realTime())
    if now > world.now {
      try enqueue(world.advance(to: now, maximumEvents: Self.eventsInStep))
    }
  }

  /// Signs the notifications of events and puts them into the outbox.
  func enqueue(_ events: [WorldEvent]) throws(SimulatorError) {
    guard sender != nil else { return }
    for event in events {
      guard let notification = event.event.notification,
        let signed = try authority.sign(event.event).notification
      else { continue }
      outbox.add(
        event, notification: notification, signedPayload: signed, due: event.event.at,
        fault: faults.nextNotification(at: event.event.at))
    }
  }

  /// Plays the world and sends notifications up to a moment, in the order of the virtual time.
  ///
  /// - Parameters:
  ///   - moment: a virtual time.
  ///   - deadline: when to stop, with the rest undone. A batch of postings that has begun ends first.
  ///   - setsClock: whether the clock is set forward with it.
  package func play(
    until moment: Milliseconds, deadline: ContinuousClock.Instant? = nil, setsClock: Bool = false
  ) async throws -> PlayTally {
    var tally = PlayTally()
    while let due = [world.nextDue, outbox.nextDue].compactMap({ $0 }).min(), due <= moment {
      if let deadline, ContinuousClock.now >= deadline {
        tally.isComplete = false
        return tally
      }
      // Attempts within an hour lead to none within it, so that they can be made together.
      let end = min(moment, max(due.advanced(by: Milliseconds.hourLength - 1), world.now))
      let events = world.advance(to: end, maximumEvents: Self.eventsInStep)
      try enqueue(events)
      tally.events += events.count
      let reached = world.now
      if setsClock { set(clockTo: reached) }
      await send(until: reached, deadline: deadline, tally: &tally)
      if isStopping { throw CancellationError() }
      try Task.checkCancellation()
      // Lets requests be answered, also when nothing is sent.
      await Task.yield()
    }
    try enqueue(world.advance(to: moment))
    if setsClock { set(clockTo: moment) }
    // What another call is sending is due as well.
    _ = await sending?.value
    return tally
  }

  private func set(clockTo moment: Milliseconds) {
    clock.set(moment, real: realTime())
    notifyFollowers()
  }

  /// Sets the clock forward to what the world has come to: each action takes a millisecond, also
  /// while the clock stands still.
  func followWorld() {
    if world.now > clock.now(real: realTime()) { set(clockTo: world.now) }
  }

  /// Changes the speed of the clock.
  func set(speed: Double) {
    clock.set(speed: speed, real: realTime())
    notifyFollowers()
  }

  /// Lets happen what is due, and waits until something is due again, until the task is cancelled:
  /// that ends the postings in flight of all callers.
  package func run() async throws {
    try await withTaskCancellationHandler {
      try await keepTime()
    } onCancel: {
      Task { await stopSending() }
    }
  }

  private func keepTime() async throws {
    while !Task.isCancelled {
      let now = clock.now(real: realTime())
      _ = try await play(until: now)
      // At most a second, as an action or a change of the clock may bring something earlier.
      var pause = Duration.seconds(1)
      if clock.speed > 0, let next = [world.nextDue, outbox.nextDue].compactMap({ $0 }).min() {
        let wait = Double(next.rawValue - now.rawValue) / clock.speed
        pause = min(pause, .milliseconds(Int64(max(1, min(wait, 1_000)))))
      }
      try await Task.sleep(for: pause)
    }
  }
}

/// What an advance of the clock did.
package struct PlayTally: Hashable, Sendable {
  package var events = 0
  /// Attempts to send a notification.
  package var attempts = 0
  package var delivered = 0
  package var isComplete = true

  mutating func add(_ other: PlayTally) {
    events += other.events
    attempts += other.attempts
    delivered += other.delivered
    isComplete = isComplete && other.isComplete
  }
}

/// Consumption information that a developer sent.
package struct ReceivedConsumption: Sendable {
  static let maximumCount = 1_000

  let transactionID: String
  let at: Milliseconds
  let version: Int64
  /// A JSON object, as it came.
  let body: [UInt8]
}
