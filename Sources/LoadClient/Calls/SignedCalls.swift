import Dispatch
import EntitlementDomain
import StoreSimulator
import Synchronization
import Wire

/// A buffer of signed calls, filled on its own thread: signing on the event loop would add latency
/// to other calls.
final class SignedCalls: Sendable {
  private struct Ready {
    var calls: [Result<LoadCall, any Error>] = []
    var isFilling = false
    var isStopped = false
  }

  /// Size of the buffer, in calls: a few kilobytes each. It covers a burst.
  private static let capacity = 256

  private let queue = DispatchQueue(label: "entitle-load.signing")
  private let maker: Mutex<SignedCallMaker>
  private let ready = Mutex(Ready())

  init(_ maker: SignedCallMaker) {
    self.maker = Mutex(maker)
    fill()
  }

  /// The next call. Signs it on the calling thread when the buffer is empty.
  func next() throws -> LoadCall {
    let (call, isLow) = ready.withLock { ready in
      (ready.calls.popLast(), ready.calls.count < Self.capacity / 2)
    }
    if isLow { fill() }
    return try (call ?? make()).get()
  }

  /// Stops signing, and waits until no call is being signed. The end of the process unloads the
  /// cryptographic library, which no thread may use then.
  func stop() async {
    ready.withLock { $0.isStopped = true }
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }

  private func make() -> Result<LoadCall, any Error> {
    maker.withLock { maker in Result { try maker.next() } }
  }

  private func fill() {
    let isNeeded = ready.withLock { ready in
      if ready.isFilling || ready.isStopped { return false }
      ready.isFilling = true
      return true
    }
    guard isNeeded else { return }
    queue.async { [self] in
      var isWanted = true
      while isWanted {
        let call = make()
        isWanted = ready.withLock { ready in
          ready.calls.append(call)
          ready.isFilling = ready.calls.count < Self.capacity && !ready.isStopped
          return ready.isFilling
        }
      }
    }
  }
}

/// Makes calls with signed payloads: about 0.1 ms of processor time each.
struct SignedCallMaker: Sendable {
  private let kind: CallKind
  private let plan: CallPlan
  private let authority: SigningAuthority
  private let thread: Int
  private let chooser: CustomerChooser
  private var generator: SeededGenerator
  /// Number of new customers that were tried.
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
    // Some life cycles have no purchase, or no notification of it.
    while true {
      // The two kinds of calls have different customers.
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
    // The loop is short: at least two thirds of neighbouring customers have payloads.
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
