import EntitlementDomain
import NIOCore
import RPCClient
import StoreSimulator
import Wire

/// Submits signed payloads of customers to a server, several customers concurrently. Skips
/// customers whose state is already correct, so that it can be repeated.
struct ServerFiller: Sendable {
  let target: RPCTarget
  let customers: BulkCustomers
  let authority: SigningAuthority
  /// Maximum number of customers in flight.
  let inFlight: Int
  let progress: Progress

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// With few connections, calls share system calls. A single connection would use only one thread
  /// of the server.
  private static let connections = 4
  /// Maximum number of attempts at one call. The server refuses calls while its verification queue
  /// is full. With increasing backoff the attempts last about a minute.
  private static let maximumAttempts = 30
  /// Increment of the backoff with each attempt, unless the server names the retry delay.
  private static let waitStep = Duration.milliseconds(150)

  /// - Throws: ``RPCClientError``; ``Failure`` when the server refuses a payload.
  func run() async throws {
    var clients: [EntitlementClient] = []
    let configuration = EntitlementClientConfiguration(
      metadata: target.metadata, token: target.token, tls: target.tls)
    for _ in 0..<Self.connections {
      clients.append(
        try await EntitlementClient.connect(to: target.address, configuration: configuration))
    }
    do {
      try await fill(through: clients)
    } catch {
      for client in clients { await client.close() }
      throw error
    }
    for client in clients { await client.close() }
  }

  private func fill(through clients: [EntitlementClient]) async throws {
    progress.start("customers", of: customers.count)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var running = 0
      for start in stride(
        from: 0, to: customers.count, by: BatchGetCustomerStateRequest.maximumCustomers)
      {
        try Task.checkCancellation()
        let chunk =
          start..<min(start + BatchGetCustomerStateRequest.maximumCustomers, customers.count)
        let missing = try await missing(chunk, asking: clients[0])
        progress.advance(by: chunk.count - missing.count)
        for index in missing {
          if running >= inFlight {
            try await group.next()
            running -= 1
          }
          group.addTask { try await submit(index, through: clients[index % clients.count]) }
          running += 1
        }
      }
      try await group.waitForAll()
    }
    progress.end()
  }

  /// The customers whose state on the server is not correct.
  private func missing(_ chunk: Range<Int>, asking client: EntitlementClient) async throws -> [Int]
  {
    let clock = WallClock()
    let sent = clock.moment(.now())
    let request = BatchGetCustomerStateRequest(
      customers: chunk.map { .account(BulkCustomers.account(at: $0)) },
      scope: BulkCustomers.scope, consistency: .fullyConsistent)
    let answer = try await retrying { () async throws(RPCClientError) in
      try await client.customerStates(request)
    }
    let time = KnownCustomers.CallTime(sent: sent, received: clock.moment(.now()))
    let known = KnownCustomers(customers: customers)
    return zip(chunk, answer.results).compactMap { index, result in
      guard case .state(let state) = result else { return index }
      if state.revision == 0 { return customers.payloads(at: index).isEmpty ? nil : index }
      return known.fault(in: state, ofCustomer: index, at: time) == nil ? nil : index
    }
  }

  private func submit(_ index: Int, through client: EntitlementClient) async throws {
    let payloads = try customers.payloads(at: index).map {
      try authority.sign(payloadJSON: $0.json)
    }
    let request = SubmitSignedTransactionsRequest(
      signedPayloads: payloads, bundleID: SimulatedApp.bundleID,
      accountID: BulkCustomers.account(at: index), priority: .bulk)
    let answer = try await retrying { () async throws(RPCClientError) in
      try await client.submitSignedTransactions(request)
    }
    let fault = SubmissionFault.text(
      answer, payloads: payloads.count, ofCustomer: index, isKnown: false)
    if let fault { throw Failure(description: fault) }
    progress.advance(by: 1)
  }

  /// Retries calls that the server shed. All calls here are idempotent.
  private func retrying<Response: Sendable>(
    _ call: () async throws(RPCClientError) -> Response
  ) async throws -> Response {
    var attempt = 1
    while true {
      do throws(RPCClientError) {
        return try await call()
      } catch {
        let isTransient =
          error.code == .status(.resourceExhausted) || error.code == .status(.unavailable)
        guard isTransient, attempt < Self.maximumAttempts else { throw error }
        try await Task.sleep(for: error.retryDelay ?? Self.waitStep * attempt)
        attempt += 1
      }
    }
  }
}
