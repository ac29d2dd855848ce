import EntitlementDomain
import Programs
import RPCClient
import StoreSimulator
import Wire

/// Submits the histories of a population to a server, several customers concurrently.
struct PopulationSubmitter: Sendable {
  let client: EntitlementClient
  let authority: SigningAuthority
  let population: Population
  let delivery: Delivery
  /// Maximum number of customers in flight. The calls of one customer are sequential.
  let concurrency: Int

  /// Configuration with many retries: the server sheds calls while its verification queue is full,
  /// and a long run can wait.
  static let client = EntitlementClientConfiguration(
    timeout: .seconds(120),
    retries: RetryPolicy(
      maximumAttempts: 30, initialBackoff: .milliseconds(150), percentOfCalls: 3_000, burst: 3_000))

  /// - Throws: ``RPCClientError``, or ``SimulatorError`` when a payload cannot be signed.
  func run() async throws -> SubmissionTally {
    try await withThrowingTaskGroup(of: SubmissionTally.self) { group in
      var tally = SubmissionTally()
      var progress = ProgressReport(total: population.count)
      var next = 0
      while next < min(concurrency, population.count) {
        let index = next
        group.addTask { try await submit(population.customer(at: index)) }
        next += 1
      }
      while let part = try await group.next() {
        tally.add(part)
        progress.oneDone()
        guard next < population.count else { continue }
        let index = next
        group.addTask { try await submit(population.customer(at: index)) }
        next += 1
      }
      return tally
    }
  }

  private func submit(_ customer: SimulatedCustomer) async throws -> SubmissionTally {
    let events = try authority.sign(customer.timeline.history(until: population.now))
    var tally = SubmissionTally()
    for step in delivery.steps(
      for: events, factsPerCall: SubmitSignedTransactionsRequest.maximumItems)
    {
      switch step {
      case .facts(let payloads):
        let request = SubmitSignedTransactionsRequest(
          signedPayloads: payloads, bundleID: SimulatedApp.bundleID,
          accountID: customer.accountID)
        let response = try await client.submitSignedTransactions(request)
        tally.add(response.results, of: customer)
      case .notification(let payload):
        let request = SubmitNotificationRequest(
          signedPayload: payload, accountID: customer.accountID)
        let response = try await client.submitNotification(request)
        tally.add(response, of: customer)
      }
    }
    return tally
  }
}

/// Counts of the results of all submissions.
struct SubmissionTally: Sendable {
  private(set) var factCount = 0
  private(set) var notificationCount = 0
  private(set) var refusedCount = 0
  /// The first refusals, for people.
  private(set) var refusals: [String] = []
  private var dispositions: [SubmissionDisposition: Int] = [:]

  /// Maximum number of refusals that are described; all are counted. They mostly have one cause.
  private static let maximumRefusals = 20

  mutating func add(_ results: [SubmittedItemResult], of customer: SimulatedCustomer) {
    for result in results {
      if result.verdict == .ok {
        factCount += 1
      } else {
        refuse(result.verdict, result.detail, of: customer)
      }
      if let disposition = result.disposition { dispositions[disposition, default: 0] += 1 }
    }
  }

  mutating func add(_ response: SubmitNotificationResponse, of customer: SimulatedCustomer) {
    if response.verdict == .ok {
      notificationCount += 1
      add(response.results, of: customer)
    } else {
      refuse(response.verdict, response.detail, of: customer)
    }
  }

  mutating func add(_ other: SubmissionTally) {
    factCount += other.factCount
    notificationCount += other.notificationCount
    refusedCount += other.refusedCount
    refusals += other.refusals.prefix(Self.maximumRefusals - refusals.count)
    dispositions.merge(other.dispositions, uniquingKeysWith: +)
  }

  private mutating func refuse(
    _ verdict: SubmissionVerdict, _ detail: String?, of customer: SimulatedCustomer
  ) {
    refusedCount += 1
    guard refusals.count < Self.maximumRefusals else { return }
    refusals.append(
      "\(customer.accountID) (\(customer.timeline.lifeCycle.rawValue)): refused, \(verdict)"
        + (detail.map { ": \($0)" } ?? ""))
  }

  /// One line for people.
  var summary: String {
    let parts = SubmissionDisposition.allCases.map { "\(dispositions[$0] ?? 0) \($0)" }
    return "\(factCount) facts (\(parts.joined(separator: ", "))), \(notificationCount) "
      + "notifications, \(refusedCount) refused"
  }
}

/// Reports the progress of a long run on stderr, at most once a second.
struct ProgressReport {
  private let total: Int
  private var done = 0
  private var lastReport = ContinuousClock.now

  /// Minimum time between two lines.
  private static let interval = Duration.seconds(1)

  init(total: Int) {
    self.total = total
  }

  mutating func oneDone() {
    done += 1
    let now = ContinuousClock.now
    guard now - lastReport >= Self.interval, done < total else { return }
    lastReport = now
    StandardError.write("\(done) of \(total) customers")
  }
}
