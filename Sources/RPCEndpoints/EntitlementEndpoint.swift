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
  private let reader: CustomerReader<ByteBuffer>
  private let explanations: ExplanationService
  private let watch: CustomerWatch<ByteBuffer>
  private let admission: ReadAdmission

  package init(
    reader: CustomerReader<ByteBuffer>, explanations: ExplanationService,
    watch: CustomerWatch<ByteBuffer>, admission: ReadAdmission
  ) {
    self.reader = reader
    self.explanations = explanations
    self.watch = watch
    self.admission = admission
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
      if let held = reader.heldAnswer(to: query) {
        return .now(try Self.payload(held, unlessRevisionIs: request.ifRevisionDiffers))
      }
      if let joined = reader.joinedAnswer(to: query) {
        return .later {
          try Self.payload(
            try await joined.get(), unlessRevisionIs: request.ifRevisionDiffers)
        }
      }
      return .read(customers: 1, admission) {
        try Self.payload(
          try await reader.answer(to: query), unlessRevisionIs: request.ifRevisionDiffers)
      }
    }
  }

  /// The answer that ``getCustomerState(_:_:)`` would give from memory, to nearly every request.
  @Sendable
  private func getCustomerStateAtOnce(_ request: UnsafeRawBufferPointer) -> ByteBuffer? {
    guard let read = PlainRead(getCustomerState: request),
      let held = reader.heldAnswer(to: read.question)
    else { return nil }
    return try? Self.payload(held, unlessRevisionIs: read.ifRevisionDiffers)
  }

  /// A caller that holds this revision is spared the body, unless time (R30) or another catalog has
  /// changed the state since that revision came to be.
  private static func payload(
    _ answer: HeldAnswer<ByteBuffer>, unlessRevisionIs held: Int64?
  ) throws -> ByteBuffer {
    guard held == answer.revision, answer.isUnchangedSinceRevision else { return answer.encoded }
    return try GetCustomerStateResponse.notModified(revision: answer.revision).encoded()
  }

  /// The bytes of a request that must name more customers than are looked up on the event loop, unless
  /// their names are very long.
  private static let largeBatchLength = 1_024

  @Sendable
  private func batchGetCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    // Decoding a large one takes long beside a refusal.
    if call.payload.readableBytes > Self.largeBatchLength, admission.turnsAway {
      answer.fail(.tooManyReads)
      return
    }
    answer.respond(to: call, BatchGetCustomerStateRequest.self) { request in
      let look = { @Sendable [reader] in
        reader.heldAnswers(
          to: request.customers, in: request.scope, consistency: request.consistency.inUse,
          at: request.at)
      }
      // A large one would hold up the other calls of its loop, and could not be refused for less than
      // it takes to answer.
      guard request.customers.count <= ReadAdmission.customersPerPlace else {
        return .read(customers: request.customers.count, admission) { [reader] in
          Self.joined(try await reader.answers(completing: look()))
        }
      }
      let batch = look()
      if let held = batch.allHeld { return .now(Self.joined(held)) }
      // Looked up again: what was held may be out of date when its turn comes (R30).
      return .read(customers: batch.missingCount, admission) { [reader] in
        Self.joined(try await reader.answers(completing: look()))
      }
    }
  }

  private static func joined(_ answers: [HeldAnswer<ByteBuffer>]) -> ByteBuffer {
    BatchGetCustomerStateResponse.encoded(joining: answers.map(\.encoded))
  }

  @Sendable
  private func checkEntitlement(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, CheckEntitlementRequest.self) { request in
      let query = CustomerQuery(
        selector: request.customer, scope: request.scope, consistency: request.consistency.inUse,
        at: request.at)
      if let held = reader.heldAnswer(to: query) {
        return .now(try Self.check(request.entitlementID, in: held.encoded))
      }
      if let joined = reader.joinedAnswer(to: query) {
        return .later { try Self.check(request.entitlementID, in: try await joined.get().encoded) }
      }
      return .read(customers: 1, admission) {
        try Self.check(request.entitlementID, in: try await reader.answer(to: query).encoded)
      }
    }
  }

  @Sendable
  private func checkEntitlementAtOnce(_ request: UnsafeRawBufferPointer) -> ByteBuffer? {
    guard let read = PlainRead(checkEntitlement: request), let entitlementID = read.entitlementID,
      let held = reader.heldAnswer(to: read.question)
    else { return nil }
    let id = EntitlementID(String(decoding: entitlementID, as: UTF8.self))
    return try? Self.check(id, in: held.encoded)
  }

  /// Reads the encoded state: holding the decoded one beside it would double the memory of every
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
        let customers = try await reader.customers(
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
