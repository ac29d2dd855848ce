import AppStorePayloads
import EntitlementDomain
import EntitlementStore
import StoreSimulator

/// The signed histories of the customers of a run, each created when it is needed.
struct CustomerStock: Sendable {
  struct Customer: Sendable {
    /// Nil for a customer without an account.
    let accountID: AccountID?
    let steps: [SignedStep]
    /// The transaction that was signed last; nil without one.
    let lastTransaction: SignedStep?
  }

  /// The position of a step.
  struct Place: Hashable, Sendable {
    let customer: Int
    let step: Int
  }

  let authority: SigningAuthority
  private let population: Population

  /// Small, so that a customer needs several calls.
  private static let factsPerCall = 3
  /// One customer in this many has no account.
  private static let anonymousShare = 5

  init(seed: UInt64, authority: SigningAuthority, now: Milliseconds) {
    self.authority = authority
    population = Population(
      seed: seed, count: Population.maximumCount, now: now, environment: Self.scope.environment)
  }

  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)

  func customer(at index: Int) throws -> Customer {
    let customer = population.customer(at: index)
    let events = customer.timeline.history(until: population.now)
    let signed = try authority.sign(events)
    var facts: [String: [Fact]] = [:]
    var lastTransaction: SignedStep?
    for (event, signed) in zip(events, signed) {
      let own = try Self.facts(of: event)
      for (payload, fact) in zip(signed.facts, own) { facts[payload] = [fact] }
      if let notification = signed.notification {
        let outside = Set(signed.factsOutsideNotification)
        facts[notification] = zip(signed.facts, own).filter { !outside.contains($0.0) }.map(\.1)
      }
      if let last = signed.transactions.last, let fact = facts[last] {
        lastTransaction = SignedStep(call: .facts([last]), facts: fact)
      }
    }
    let delivery: Delivery = index.isMultiple(of: 2) ? .transactions : .mixed
    let steps = delivery.steps(for: signed, factsPerCall: Self.factsPerCall).map { call in
      let payloads =
        switch call {
        case .facts(let payloads): payloads
        case .notification(let payload): [payload]
        }
      return SignedStep(call: call, facts: payloads.flatMap { facts[$0] ?? [] })
    }
    return Customer(
      accountID: index % Self.anonymousShare == 1 ? nil : customer.accountID, steps: steps,
      lastTransaction: lastTransaction)
  }

  func step(at place: Place) throws -> SignedStep {
    try customer(at: place.customer).steps[place.step]
  }

  /// In the order of ``SignedEvent/facts``.
  private static func facts(of event: StoreEvent) throws -> [Fact] {
    var facts = try event.transactions.map { try fact(.transaction, $0.json) }
    if let info = event.renewalInfo { facts.append(try fact(.renewalInfo, info.json)) }
    if let app = event.appTransaction { facts.append(try fact(.appTransaction, app.json)) }
    return facts
  }

  private static func fact(_ kind: FactKind, _ payload: [UInt8]) throws -> Fact {
    try PayloadDecoder.fact(
      kind: kind, payload: payload, digest: try StoredPayload.digest(of: payload),
      bundleID: SimulatedApp.bundleID)
  }
}
