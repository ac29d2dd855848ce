import EntitlementDomain
import RPCClient
import StoreSimulator
import Wire

/// The signed histories of a population as submitting calls. Some customers are submitted by facts
/// alone, some also by notifications.
struct SubmissionPlan: Sendable {
  struct Customer: Sendable {
    let accountID: AccountID
    let steps: [DeliveryStep]
  }

  /// The answer of a server to one call.
  struct Answer: Hashable, Sendable {
    let dispositions: [SubmissionDisposition?]
    let wasKnownNotification: Bool

    var isNew: Bool { dispositions.contains(.added) }

    /// Whether every fact of the call was known to the server.
    var isRepeat: Bool {
      !dispositions.contains(.added) && !dispositions.contains(.replaced)
    }
  }

  let customers: [Customer]

  init(_ population: Population, signedBy authority: SigningAuthority) throws {
    customers = try population.customers.enumerated().map { index, customer in
      let events = try authority.sign(customer.timeline.history(until: population.now))
      let delivery: Delivery = index.isMultiple(of: 2) ? .transactions : .mixed
      return Customer(
        accountID: customer.accountID,
        steps: delivery.steps(
          for: events, factsPerCall: SubmitSignedTransactionsRequest.maximumItems))
    }
  }

  var callCount: Int { customers.reduce(0) { $0 + $1.steps.count } }

  /// - Throws: `RPCClientError`; ``HarnessFailure`` when the server refuses a payload.
  static func send(
    _ step: DeliveryStep, of customer: Customer, to client: EntitlementClient
  ) async throws -> Answer {
    let results: [SubmittedItemResult]
    var wasKnown = false
    switch step {
    case .facts(let payloads):
      results = try await client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: customer.accountID)
      ).results
    case .notification(let payload):
      let response = try await client.submitNotification(
        SubmitNotificationRequest(signedPayload: payload, accountID: customer.accountID))
      guard response.verdict == .ok else { throw HarnessFailure("refused: \(response.verdict)") }
      results = response.results
      wasKnown = response.isDuplicate
    }
    if let refused = results.first(where: { $0.verdict != .ok }) {
      throw HarnessFailure("refused: \(refused.verdict)")
    }
    return Answer(dispositions: results.map(\.disposition), wasKnownNotification: wasKnown)
  }

  /// Sends everything to a server that has none of it.
  ///
  /// - Returns: the answers, by customer and call.
  func sendFirst(to server: RunningServer) async throws -> [[Answer]] {
    let answers = try await send(to: server)
    // Each fact comes once, except that a notification may follow the facts inside it.
    for (customer, own) in zip(customers, answers) where customer.steps.count == 1 {
      guard own.allSatisfy({ !$0.dispositions.contains(.duplicate) && $0.isNew }) else {
        throw HarnessFailure("\(customer.accountID) was known before: \(own)")
      }
    }
    return answers
  }

  /// Sends everything, one call after the other.
  ///
  /// - Returns: the answers, by customer and call.
  func send(to server: RunningServer) async throws -> [[Answer]] {
    let client = try await server.client()
    var answers: [[Answer]] = []
    for customer in customers {
      var own: [Answer] = []
      for step in customer.steps {
        own.append(try await Self.send(step, of: customer, to: client))
      }
      answers.append(own)
    }
    await client.close()
    return answers
  }
}
