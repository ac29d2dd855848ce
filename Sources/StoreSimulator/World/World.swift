package import EntitlementDomain

/// An App Store with its customers on a virtual clock: what happens when, what is signed then, and
/// what a request is answered. Pure and deterministic: the same configuration and the same actions
/// at the same moments give the same events, whatever the steps in which time advances.
package struct World: Sendable {
  package struct Configuration: Sendable {
    package var seed: UInt64
    package var environment: StoreEnvironment
    /// The virtual time at the start, within ``SimulatedCalendar/range``.
    package var start: Milliseconds
    /// The number of customers of all life cycles, at most ``maximumCustomers``.
    package var population: Int
    /// The billing grace period that the developer has chosen, in days: 0, 3, 16 or 28.
    package var graceDays: Int64

    package init(
      seed: UInt64, environment: StoreEnvironment, start: Milliseconds, population: Int = 0,
      graceDays: Int64 = 16
    ) {
      self.seed = seed
      self.environment = environment
      self.start = start
      self.population = population
      self.graceDays = graceDays
    }
  }

  /// The maximum number of customers, and of live ones.
  package static let maximumCustomers = 200_000
  /// Blocks of identifiers that a live customer takes, of a hundred each: enough for ``maximumTransactions``
  /// and the renewals of a week until the last year of the calendar. The blocks of all customers and those
  /// of the population fit into ``StoreIdentifiers/maximumCustomers``.
  private static let blocksOfLiveCustomer = 400
  /// With so many transactions a customer makes no more purchases. Renewals still happen.
  package static let maximumTransactions = 5_000

  package let configuration: Configuration
  /// The virtual time. All events up to it have happened.
  package private(set) var now: Milliseconds
  package internal(set) var records = StoreRecords()
  var customers: [WorldCustomer] = []
  var massExtensions: [MassExtension] = []
  let population: Population
  private var indices: [String: Int] = [:]
  private var agenda = Heap<AgendaItem>()
  private var liveCount = 0
  private var happened: [WorldEvent] = []
  private var notificationIDs: SeededGenerator

  /// What will happen to a customer next.
  private struct AgendaItem: Comparable, Sendable {
    let due: Milliseconds
    let customer: Int

    static func < (left: Self, right: Self) -> Bool {
      (left.due, left.customer) < (right.due, right.customer)
    }
  }

  /// A world in which the histories of the population have happened up to the start.
  ///
  /// - Returns: the world, and these histories in order.
  package static func begin(
    _ configuration: Configuration
  ) -> (world: World, past: [WorldEvent]) {
    var world = World(configuration)
    let past = world.advance(to: configuration.start)
    return (world, past)
  }

  private init(_ configuration: Configuration) {
    self.configuration = configuration
    population = Population(
      seed: configuration.seed, count: configuration.population, now: configuration.start,
      environment: configuration.environment)
    now = SimulatedCalendar.range.lowerBound
    notificationIDs = SeededGenerator(
      seed: configuration.seed ^ UInt64(bitPattern: configuration.start.rawValue),
      label: "world")
    for customer in population.customers {
      let index = add(
        WorldCustomer(
          name: customer.accountID.rawValue, lifeCycle: customer.timeline.lifeCycle))
      customers[index].due = customer.timeline.events.first?.at
      schedule(index)
    }
  }

  // MARK: Time

  /// When something happens next without an action; nil when nothing will.
  package var nextDue: Milliseconds? {
    let extensions = massExtensions.first { !$0.isComplete }?.due
    guard let extensions, let due = agenda.least?.due else {
      return extensions ?? agenda.least?.due
    }
    return min(extensions, due)
  }

  /// Lets time pass. An earlier target changes nothing.
  ///
  /// - Parameter maximumEvents: after so many events, or a few more, time stops before the target.
  /// - Returns: what has happened, in order.
  package mutating func advance(
    to target: Milliseconds, maximumEvents: Int = .max
  ) -> [WorldEvent] {
    play(until: target, maximumEvents: maximumEvents)
    return takeEvents()
  }

  private mutating func play(until target: Milliseconds, maximumEvents: Int = .max) {
    while let due = nextDue, due <= target {
      guard happened.count < maximumEvents else { return }
      now = max(now, due)
      if let index = massExtensions.firstIndex(where: { !$0.isComplete && $0.due <= now }) {
        extendAll(at: index)
      } else if let item = agenda.least {
        continueLife(of: item.customer)
      }
    }
    now = max(now, target)
  }

  /// The moment of an action: a millisecond later, so that what it signs is newer than all that was
  /// signed before.
  mutating func beginAction() -> Milliseconds {
    play(until: now.advanced(by: 1))
    return now
  }

  /// What an action did, with what follows from it at once.
  mutating func endAction(of customer: Int, begun moment: Milliseconds) -> Outcome {
    let next = now.advanced(by: 1)
    if let due = nextDue, due <= next { play(until: next) }
    return Outcome(customer: customer, at: moment, events: takeEvents())
  }

  mutating func takeEvents() -> [WorldEvent] {
    defer { happened = [] }
    return happened
  }

  private mutating func continueLife(of index: Int) {
    guard customers[index].script == nil, customers[index].lifeCycle != nil else {
      continueSubscription(of: index)
      return
    }
    let events = population.customer(at: index).timeline.events
    let event = events[customers[index].playedEvents]
    happen(event, to: index)
    customers[index].playedEvents += 1
    if customers[index].playedEvents < events.count {
      customers[index].due = events[customers[index].playedEvents].at
      schedule(index)
    } else {
      makeLive(index)
    }
  }

  private func dueOfSubscription(_ index: Int) -> Milliseconds? {
    guard let subscription = customers[index].subscription else { return nil }
    return ChainPhase.nextStep(
      of: subscription.transaction, subscription.renewalInfo, now: now)
  }

  /// Enters a customer's next moment into the agenda.
  private mutating func schedule(_ index: Int) {
    if let due = customers[index].due {
      agenda.insert(AgendaItem(due: due, customer: index))
    }
    // Items of changed customers are dropped when they come first.
    while let least = agenda.least, customers[least.customer].due != least.due {
      agenda.removeLeast()
    }
  }

  // MARK: Customers

  package var customerCount: Int { customers.count }

  /// - Throws: ``WorldRefusal/Code/notFound``.
  package func index(of name: String) throws(WorldRefusal) -> Int {
    guard let index = indices[name] else {
      throw WorldRefusal(.notFound, "there is no customer of this name")
    }
    return index
  }

  private mutating func add(_ customer: WorldCustomer) -> Int {
    let index = customers.count
    customers.append(customer)
    indices[customer.name] = index
    records.addCustomer()
    return index
  }

  /// Adds a live customer, who gets the app now.
  ///
  /// - Parameter name: nil for the next free name.
  /// - Throws: ``WorldRefusal``.
  mutating func addCustomer(
    _ name: String?, token: AppAccountToken?, at moment: Milliseconds
  ) throws(WorldRefusal) -> Int {
    guard customers.count < Self.maximumCustomers else {
      throw WorldRefusal(.impossible, "there are \(Self.maximumCustomers) customers already")
    }
    var number = customers.count + 1
    while name == nil, indices[Self.name(number)] != nil { number += 1 }
    let index = add(WorldCustomer(name: name ?? Self.name(number), lifeCycle: nil))
    var script = makeScript()
    script.identifiers.appAccountToken = token
    script.signAppTransaction(
      version: LifeCycleScript.bundleVersion, originalVersion: LifeCycleScript.bundleVersion,
      originalPurchaseDate: moment, at: moment)
    customers[index].script = script
    publish(index)
    return index
  }

  private static func name(_ number: Int) -> String {
    let digits = String(number)
    return "customer-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }

  /// A script with identifiers that no life cycle uses: live customers take blocks from the end of the
  /// population's range.
  private mutating func makeScript() -> LifeCycleScript {
    liveCount += 1
    let index = StoreIdentifiers.maximumCustomers - Self.blocksOfLiveCustomer * liveCount
    return LifeCycleScript(
      start: configuration.start, environment: configuration.environment,
      identifiers: StoreIdentifiers(
        seed: configuration.seed, label: "population", index: index, hasToken: false),
      generator: SeededGenerator(seed: configuration.seed, label: "live", index: UInt64(index)))
  }

  /// Makes a customer of the population live: what was to happen in the life cycle no longer does.
  mutating func makeLive(_ index: Int) {
    guard customers[index].script == nil else { return }
    var script = makeScript()
    let transactions = records.transactions(of: index).map(\.payload)
    if let id = records.customers[index].appTransactionID {
      script.identifiers.appTransactionID = id
    }
    if let latest = transactions.last {
      script.identifiers.appAccountToken = transactions.compactMap(\.appAccountToken).last
      script.storefront =
        Storefront.all.first { $0.countryCode == latest.storefront } ?? script.storefront
    }
    for chain in records.chains(of: index).map(\.payload) {
      if let renewalInfo = records.customers[index].renewalInfos[chain.originalTransactionID] {
        let phase = ChainPhase(of: chain, renewalInfo, at: now)
        customers[index].subscription = ScriptedSubscription(
          transaction: chain, renewalInfo: renewalInfo)
        customers[index].cardWorks = phase != .grace && phase != .billingRetry
      } else {
        customers[index].shared = chain
      }
    }
    customers[index].script = script
    customers[index].due = dueOfSubscription(index)
    schedule(index)
  }

  // MARK: Events

  /// Notes what a customer's script has signed, and when something happens next.
  mutating func publish(_ index: Int) {
    for event in customers[index].script?.takeEvents() ?? [] { happen(event, to: index) }
    customers[index].due = dueOfSubscription(index)
    schedule(index)
  }

  mutating func happen(_ event: StoreEvent, to index: Int?) {
    if let index { records.record(event, of: index) }
    happened.append(WorldEvent(customer: index, event: event))
  }

  /// A notification about no customer.
  mutating func announce(
    _ name: NotificationName, about subject: StoreNotification.Subject, at moment: Milliseconds
  ) {
    var notification = StoreNotification(
      type: name.type, subtype: name.subtype, uuid: NotificationUUID(notificationIDs.uuid()),
      signedDate: moment, environment: configuration.environment,
      appAppleID: SimulatedApp.appAppleID, bundleID: SimulatedApp.bundleID, status: nil)
    notification.subject = subject
    happen(StoreEvent(at: moment, transactions: [], notification: notification), to: nil)
  }
}
