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

  /// Attempts at one call. The server asks to come again when it has more to verify than it holds;
  /// with growing waits this lasts for about a minute.
  private static let maximumAttempts = 30
  /// Added to the wait with each attempt, unless the server says how long to wait.
  private static let waitStep = Duration.milliseconds(150)

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
    for step in delivery.steps(for: events, factsPerCall: MessageLimits.submissionSize) {
      switch step {
      case .facts(let payloads):
        let request = SubmitSignedTransactionsRequest(
          signedPayloads: payloads, bundleID: SimulatedApp.bundleID,
          accountID: customer.accountID)
        let response = try await retrying { () async throws(RPCClientError) in
          try await client.submitSignedTransactions(request)
        }
        tally.add(response.results, of: customer)
      case .notification(let payload):
        let request = SubmitNotificationRequest(
          signedPayload: payload, accountID: customer.accountID)
        let response = try await retrying { () async throws(RPCClientError) in
          try await client.submitNotification(request)
        }
        tally.add(response, of: customer)
      }
    }
    return tally
  }

  /// Submissions are idempotent, so that a call that the server had no room for may be repeated.
  private func retrying<Response: Sendable>(
    _ call: () async throws(RPCClientError) -> Response
  ) async throws -> Response {
    var attempt = 1
    while true {
      do throws(RPCClientError) {
        return try await call()
      } catch {
        guard error.isPassing, attempt < Self.maximumAttempts else { throw error }
        try await Task.sleep(for: error.retryDelay ?? Self.waitStep * attempt)
        attempt += 1
      }
    }
  }
}

extension RPCClientError {
  /// The same call may succeed a little later.
  fileprivate var isPassing: Bool {
    switch code {
    case .status(.resourceExhausted), .status(.unavailable): true
    default: false
    }
  }
}
