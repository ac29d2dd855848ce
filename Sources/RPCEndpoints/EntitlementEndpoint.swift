package import EntitlementDomain
package import EntitlementService
package import NIOCore
package import RPCServer
import Wire

/// `entitle.v1.EntitlementService`: what a customer may use now.
///
/// An answer that is in memory is sent from the event loop, as it was encoded when its customer
/// last changed.
package struct EntitlementEndpoint: Sendable {
  private let reader: CustomerReader
  private let states: CustomerStates
  private let explanations: ExplanationService
  private let watch: CustomerWatch

  package init(
    reader: CustomerReader, states: CustomerStates, explanations: ExplanationService,
    watch: CustomerWatch
  ) {
    self.reader = reader
    self.states = states
    self.explanations = explanations
    self.watch = watch
  }

  /// How the reader encodes a state for this endpoint.
  @Sendable
  package static func encode(_ state: CustomerState) throws(ServiceError) -> ByteBuffer {
    do throws(MessageError) {
      return try GetCustomerStateResponse.state(state).encoded()
    } catch {
      throw ServiceError(.internalFault, "the state does not fit a message: \(error)")
    }
  }

  package func register(in router: inout RPCRouter) {
    router.unary(
      WireMethods.getCustomerState, immediate: getCustomerStateAtOnce, getCustomerState)
    router.unary(WireMethods.batchGetCustomerState, batchGetCustomerState)
    router.unary(
      WireMethods.checkEntitlement, immediate: checkEntitlementAtOnce, checkEntitlement)
    router.unary(WireMethods.explainCustomerState, explainCustomerState)
    router.serverStreaming(WireMethods.watchCustomerStates, watchCustomerStates)
    router.unary(WireMethods.listCustomers, listCustomers)
  }

  @Sendable
  private func getCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetCustomerStateRequest.self) { request in
      let query = CustomerQuery(
        selector: request.customer, scope: request.scope, consistency: request.consistency.inUse,
        at: request.at)
      return try read(query, answer) { [held = request.ifRevisionDiffers] customer in
        try Self.payload(customer, unlessRevisionIs: held)
      }
    }
  }

  /// Answers with what `payload` makes of a customer's answer: now where it is in memory.
  private func read(
    _ query: CustomerQuery, _ answer: RPCAnswer,
    _ payload: @escaping @Sendable (CustomerAnswer) throws -> ByteBuffer
  ) throws -> Response {
    let cached = try reader.answer(to: query, orTell: { ReadCall(answer, payload) })
    return try cached.map { .now(try payload($0)) } ?? .elsewhere
  }

  /// The answer that ``getCustomerState(_:_:)`` would give from memory, to nearly every request.
  @Sendable
  private func getCustomerStateAtOnce(_ request: UnsafeRawBufferPointer) -> ByteBuffer? {
    guard let read = PlainRead(getCustomerState: request),
      let cached = reader.cachedAnswer(to: read.question)
    else { return nil }
    return try? Self.payload(cached, unlessRevisionIs: read.ifRevisionDiffers)
  }

  /// A caller that holds this revision is spared the body, unless time (R30) or another catalog has
  /// changed the state since that revision came to be.
  private static func payload(
    _ answer: CustomerAnswer, unlessRevisionIs held: Int64?
  ) throws -> ByteBuffer {
    guard held == answer.revision, answer.isUnchangedSinceRevision else { return answer.encoded }
    return try GetCustomerStateResponse.notModified(revision: answer.revision).encoded()
  }

  /// The bytes of a request that must name more customers than are looked up on the event loop, unless
  /// their names are very long.
  private static let largeBatchLength = 1_024

  @Sendable
  private func batchGetCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    // Decoding a large one takes long compared with a refusal.
    if call.payload.readableBytes > Self.largeBatchLength, reader.refusesLargeBatches {
      answer.fail(.overloaded)
      return
    }
    answer.respond(to: call, BatchGetCustomerStateRequest.self) { request in
      let cached = try reader.answers(
        to: BatchQuery(
          selectors: request.customers, scope: request.scope,
          consistency: request.consistency.inUse, at: request.at),
        orTell: { result in answer.finish(Result { Self.joined(try result.get()) }) },
        isWaiting: { !answer.isCancelled })
      return cached.map { .now(Self.joined($0)) } ?? .elsewhere
    }
  }

  private static func joined(_ answers: [CustomerAnswer]) -> ByteBuffer {
    BatchGetCustomerStateResponse.encoded(joining: answers.map(\.encoded))
  }

  @Sendable
  private func checkEntitlement(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, CheckEntitlementRequest.self) { request in
      let query = CustomerQuery(
        selector: request.customer, scope: request.scope, consistency: request.consistency.inUse,
        at: request.at)
      return try read(query, answer) { [id = request.entitlementID] customer in
        try Self.check(id, in: customer.encoded)
      }
    }
  }

  @Sendable
  private func checkEntitlementAtOnce(_ request: UnsafeRawBufferPointer) -> ByteBuffer? {
    guard let read = PlainRead(checkEntitlement: request), let entitlementID = read.entitlementID,
      let cached = reader.cachedAnswer(to: read.question)
    else { return nil }
    let id = EntitlementID(String(decoding: entitlementID, as: UTF8.self))
    return try? Self.check(id, in: cached.encoded)
  }

  /// Reads the encoded state: caching the decoded one too would double the memory of every
  /// customer.
  private static func check(_ id: EntitlementID, in encoded: ByteBuffer) throws -> ByteBuffer {
    let response: CheckEntitlementResponse
    do throws(WireError) {
      response = try CheckEntitlementResponse(of: id, readingEncoded: encoded)
    } catch {
      throw ServiceError(.internalFault, "an answer without a state: \(error)")
    }
    return try response.encoded()
  }

  @Sendable
  private func explainCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    answer.respond(to: call, ExplainCustomerStateRequest.self) { request in
      .later {
        let explanation = try await explanations.explain(
          ExplanationQuery(
            selector: request.customer, scope: request.scope, at: request.at,
            catalogYAML: request.catalogYAML),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try ExplainCustomerStateResponse(explanation: explanation).encoded()
      }
    }
  }

  @Sendable
  private func watchCustomerStates(_ call: RPCCall, _ stream: RPCServerStream) {
    do {
      let request = try WatchRequest(try WatchCustomerStatesRequest.decode(from: call.payload))
      stream.produce { [watch] producer in
        let watcher = try await watch.start(request)
        while true {
          for item in try await watcher.next() {
            try await producer.send(try item.encoded(), cursor: item.cursor.description)
          }
          // Before the next states are loaded.
          try await producer.flush()
        }
      }
    } catch {
      stream.fail(RPCStatus(mapping: error))
    }
  }

  @Sendable
  private func listCustomers(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListCustomersRequest.self) { request in
      .later {
        let size = request.effectivePageSize
        let customers = try await states.page(
          in: request.scope, after: request.pageToken.map { AccountID($0) }, limit: size)
        // The token is the last account of the page: pages stay right while customers come in.
        let next = customers.count < size ? nil : customers.last?.accountID?.rawValue
        return try ListCustomersResponse(customers: customers, nextPageToken: next).encoded()
      }
    }
  }
}

extension PlainRead {
  fileprivate var question: QuestionBytes {
    switch selector {
    case .account: QuestionBytes(account: id, bundleID: bundleID, environment: environment)
    case .originalTransaction:
      QuestionBytes(originalTransaction: id, bundleID: bundleID, environment: environment)
    }
  }
}

extension ReadConsistency {
  /// The same, in the words of the use cases.
  fileprivate var inUse: Consistency {
    switch self {
    case .minimizeLatency: .minimizeLatency
    case .atLeastAsFresh(let revision): .atLeastAsFresh(revision: revision)
    case .fullyConsistent: .fullyConsistent
    }
  }
}
