import EntitlementDomain
import StoreSimulator
import Wire

/// Makes calls that hand something in, signed: some 0.1 ms of processor time each.
struct SignedCallMaker: Sendable {
  private let kind: CallKind
  private let plan: CallPlan
  private let authority: SigningAuthority
  private let thread: Int
  private let chooser: CustomerChooser
  private var generator: SeededGenerator
  /// New customers that were used.
  private var newCustomers = 0

  init(_ kind: CallKind, _ plan: CallPlan, signedBy authority: SigningAuthority, thread: Int) {
    self.kind = kind
    self.plan = plan
    self.authority = authority
    self.thread = thread
    chooser = CustomerChooser(plan.choice, count: plan.customers.count)
    generator = SeededGenerator(
      seed: plan.seed, label: "\(kind.name) calls", index: UInt64(thread))
  }

  /// - Throws: ``SimulatorError`` when a payload cannot be signed.
  mutating func next() throws -> LoadCall {
    if kind == .claim { return try claim() }
    // Some life cycles begin without a purchase, or without a notification of it.
    while true {
      // Those of the two kinds of calls are apart.
      let number = newCustomers * 2 + (kind == .notify ? 1 : 0)
      let index = plan.newCustomer(number, ofThread: thread)
      newCustomers += 1
      let event = plan.customers.timeline(at: index).history(until: plan.customers.now)
        .first { !$0.transactions.isEmpty }
      guard let event, kind == .submit || event.notification != nil else { continue }
      let signed = try authority.sign(event)
      if kind == .submit { return submission(signed.facts, ofCustomer: index) }
      if let notification = signed.notification {
        return self.notification(notification, ofCustomer: index)
      }
    }
  }

  private func submission(_ payloads: [String], ofCustomer index: Int) -> LoadCall {
    LoadCall(
      .submit, WireMethods.submitSignedTransactions,
      SubmitSignedTransactionsRequest(
        signedPayloads: payloads, bundleID: SimulatedApp.bundleID,
        accountID: BulkCustomers.account(at: index)),
      expecting: .accepted(index, payloads: payloads.count), timeout: plan.timeout)
  }

  private func notification(_ payload: String, ofCustomer index: Int) -> LoadCall {
    LoadCall(
      .notify, WireMethods.submitNotification,
      SubmitNotificationRequest(
        signedPayload: payload, accountID: BulkCustomers.account(at: index)),
      expecting: .notified(index), timeout: plan.timeout)
  }

  private mutating func claim() throws -> LoadCall {
    var index = chooser.index(&generator)
    var payloads = plan.customers.payloads(at: index)
    // Two thirds of the customers and more have something, in every row of them.
    while payloads.isEmpty {
      index = (index + 1) % plan.customers.count
      payloads = plan.customers.payloads(at: index)
    }
    let signed = try payloads.map { try authority.sign(payloadJSON: $0.json) }
    return LoadCall(
      .claim, WireMethods.submitSignedTransactions,
      SubmitSignedTransactionsRequest(
        signedPayloads: signed, bundleID: SimulatedApp.bundleID,
        accountID: BulkCustomers.account(at: index)),
      expecting: .known(index, payloads: signed.count), timeout: plan.timeout)
  }
}
