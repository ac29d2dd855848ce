import EntitlementDomain
import RPCClient
import StoreSimulator
import Wire

/// Hands the histories of a population to a server, several customers at a time.
struct PopulationSubmitter: Sendable {
  let client: EntitlementClient
  let authority: SigningAuthority
  let population: Population
  let delivery: Delivery
  /// Customers under way at once. The calls of one customer follow each other.
  let concurrency: Int

  /// The server asks to come again when it has more to verify than it holds: there is time, and
  /// nobody else waits.
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
