import AccessControl
package import EntitlementDomain
package import EntitlementService
import EntitlementStore
import Framing
import NIOCore
package import RPCServer
import Traces
import Wire
import Workers

/// `entitle.v1.EntitlementService`: the entitlements of customers.
///
/// A cached answer is sent from the event loop, as it was encoded when its customer last changed,
/// with the moment of the call as its `evaluated_at_ms`.
package struct EntitlementEndpoint: Sendable {
  private let reader: CustomerReader
  private let states: CustomerStates
  private let explanations: ExplanationService
  private let watch: CustomerWatch
  /// Nil without keys of the App Store Server API.
  private let fetcher: (any CustomerFetching)?

  package init(
    reader: CustomerReader, states: CustomerStates, explanations: ExplanationService,
    watch: CustomerWatch, fetcher: (any CustomerFetching)? = nil
  ) {
    self.reader = reader
    self.states = states
    self.explanations = explanations
    self.watch = watch
    self.fetcher = fetcher
  }

  /// Encodes a state for ``CustomerReader`` as the response of GetCustomerState.
  @Sendable
  package static func encode(_ state: CustomerState) throws(ServiceError) -> EncodedState {
    let bytes = try encoded(GetCustomerStateResponse.state(state))
    return EncodedState(bytes, momentOffset: GetCustomerStateResponse.evaluationOffset(in: bytes))
  }

  private static func encoded(_ message: some WireMessage) throws(ServiceError) -> ByteBuffer {
    do throws(MessageError) {
      return try message.encoded()
    } catch {
      throw ServiceError(.internalFault, "the state does not fit a message: \(error)")
    }
  }

  /// Encodes an explanation so that it fits a frame: the domain bounds its lists, and identifiers of
  /// unusual length shorten them further (R31).
  static func encoded(_ explanation: Explanation) throws(ServiceError) -> ByteBuffer {
    var explanation = explanation
    var count = Explanation.listedElements
    while true {
      let bytes = try encoded(ExplainCustomerStateResponse(explanation: explanation))
      if bytes.readableBytes <= TruncatedList.largestLength || count == 1 { return bytes }
      count /= 2
      explanation = explanation.truncated(to: count)
    }
  }

  package func register(in router: inout RPCRouter) {
    router.unary(
      WireMethods.getCustomerState, immediate: cachedCustomerState, getCustomerState)
    router.unary(WireMethods.batchGetCustomerState, batchGetCustomerState)
    router.unary(
      WireMethods.checkEntitlement, immediate: cachedEntitlementCheck, checkEntitlement)
    router.unary(WireMethods.explainCustomerState, explainCustomerState)
    router.serverStreaming(WireMethods.watchCustomerStates, watchCustomerStates)
    router.unary(WireMethods.listCustomers, listCustomers)
  }

  @Sendable
  private func getCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetCustomerStateRequest.self) { request in
      let query = CustomerQuery(
        selector: request.customer, scope: request.scope,
        consistency: request.consistency.serviceConsistency, at: request.at,
        knowledge: request.knowledge)
      let knownRevision = request.ifRevisionDiffers
      if request.fetchesIfUnknown {
        // What is fetched is stored.
        if call.isGet {
          throw ServiceError(
            .invalidArgument(field: "fetch_if_unknown"), "a GET fetches nothing: call by POST")
        }
        guard call.identity.caller.permissions.contains(.fetch) else {
          throw call.refusal(.permission, details: ["permission": Permission.fetch.name])
        }
        guard query.selector.isOfTheAppStore else {
          throw ServiceError(
            .invalidArgument(field: "fetch_if_unknown"),
            "only a customer by a transaction id of the App Store can be fetched")
        }
        return fetch(query, for: call.source) { customer in
          try Self.message(customer, unlessRevisionIs: knownRevision).stamped()
        }
      }
      return try read(query, answer) { customer in
        try Self.message(customer, unlessRevisionIs: knownRevision).stamped()
      }
    }
  }

  /// Reads a customer, and once more after a fetch if nothing is stored of it (R85). Only a customer
  /// without a stored change has revision 0.
  private func fetch(
    _ query: CustomerQuery, for source: WorkSource,
    _ payload: @escaping @Sendable (CustomerAnswer) throws -> ByteBuffer
  ) -> Response {
    .later {
      let known = try await reader.answer(to: query, of: source)
      if known.revision != 0 { return try payload(known) }
      guard let fetcher else {
        try JobRecords.check([], reach: query.scope)
        return try payload(known)
      }
      guard try await fetcher.fetch(query.selector, in: query.scope) else {
        return try payload(known)
      }
      return try payload(try await reader.answer(to: query, of: source))
    }
  }

  /// Reads a customer and answers with the result of `payload`, immediately if the customer is
  /// cached.
  private func read(
    _ query: CustomerQuery, _ answer: RPCAnswer,
    _ payload: @escaping @Sendable (CustomerAnswer) throws -> ByteBuffer
  ) throws -> Response {
    let cached = try reader.answer(to: query, orFinish: { ReadCall(answer, payload) })
    return try cached.map { .now(try payload($0)) } ?? .elsewhere
  }

  /// The cached answer that ``getCustomerState(_:_:)`` would give. Handles the usual form of
  /// requests.
  @Sendable
  private func cachedCustomerState(
    _ request: UnsafeRawBufferPointer, _ scope: borrowing ConnectionScope
  ) -> StampedMessage? {
    guard let read = PlainRead(getCustomerState: request),
      scope.contains(bundleID: read.bundleID, environment: read.environment),
      let cached = reader.cachedAnswer(to: read.cacheKey)
    else { return nil }
    return try? Self.message(cached, unlessRevisionIs: read.ifRevisionDiffers)
  }

  /// NOT_MODIFIED if the caller has this revision, unless time (R30) or a new catalog has changed
  /// the state since.
  private static func message(
    _ answer: CustomerAnswer, unlessRevisionIs knownRevision: Int64?
  ) throws -> StampedMessage {
    guard knownRevision == answer.revision, answer.isUnchangedSinceRevision else {
      return try answer.message
    }
    return StampedMessage(
      try GetCustomerStateResponse.notModified(revision: answer.revision).encoded())
  }

  /// Requests above this size, in bytes, name more customers than are looked up on the event loop,
  /// unless their ids are very long.
  private static let largeBatchLength = 1_024

  @Sendable
  private func batchGetCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    // Refused before decoding: to decode a large request takes much longer than to refuse it.
    if call.payload.readableBytes > Self.largeBatchLength, reader.refusesLargeBatches {
      answer.fail(.overloaded)
      return
    }
    answer.respond(to: call, BatchGetCustomerStateRequest.self) { request in
      let cached = try reader.answers(
        to: BatchQuery(
          selectors: request.customers, scope: request.scope,
          consistency: request.consistency.serviceConsistency, at: request.at,
          knowledge: request.knowledge, source: call.source, span: call.span),
        on: call.eventLoop,
        orFinish: { result in answer.finish(Result { try Self.joined(try result.get()) }) },
        isWaiting: { !answer.isCancelled })
      return try cached.map { .now(try Self.joined($0)) } ?? .elsewhere
    }
  }

  private static func joined(_ answers: [CustomerAnswer]) throws -> ByteBuffer {
    BatchGetCustomerStateResponse.encoded(joining: try answers.map { try $0.message })
  }

  @Sendable
  private func checkEntitlement(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, CheckEntitlementRequest.self) { request in
      let query = CustomerQuery(
        selector: request.customer, scope: request.scope,
        consistency: request.consistency.serviceConsistency, at: request.at,
        knowledge: request.knowledge)
      return try read(query, answer) { [id = request.entitlementID] customer in
        try Self.check(id, in: customer.encoded.bytes)
      }
    }
  }

  @Sendable
  private func cachedEntitlementCheck(
    _ request: UnsafeRawBufferPointer, _ scope: borrowing ConnectionScope
  ) -> StampedMessage? {
    guard let read = PlainRead(checkEntitlement: request), let entitlementID = read.entitlementID,
      scope.contains(bundleID: read.bundleID, environment: read.environment),
      let cached = reader.cachedAnswer(to: read.cacheKey)
    else { return nil }
    let id = EntitlementID(String(decoding: entitlementID, as: UTF8.self))
    return (try? Self.check(id, in: cached.encoded.bytes)).map { StampedMessage($0) }
  }

  /// Reads the encoded state. Caching the decoded state too would double the memory of each
  /// customer.
  private static func check(_ id: EntitlementID, in encoded: ByteBuffer) throws -> ByteBuffer {
    let response: CheckEntitlementResponse
    do throws(WireError) {
      response = try CheckEntitlementResponse(of: id, readingEncoded: encoded)
    } catch {
      throw ServiceError(.internalFault, "the cached answer has no state: \(error)")
    }
    return try response.encoded()
  }

  @Sendable
  private func explainCustomerState(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    let source = call.source
    answer.respond(to: call, ExplainCustomerStateRequest.self) { request in
      .later {
        try await explanations.explain(
          ExplanationQuery(
            selector: request.customer, scope: request.scope, at: request.at,
            knowledge: request.knowledge, catalogYAML: request.catalogYAML),
          for: source, deadline: deadline, isCancelled: { answer.isCancelled }
        ) { explanation throws(ServiceError) in
          try Self.encoded(explanation)
        }
      }
    }
  }

  @Sendable
  private func watchCustomerStates(_ call: RPCCall, _ stream: RPCServerStream) {
    do {
      let source = call.source
      let request = try WatchRequest(
        try call.authorizedRequest(WatchCustomerStatesRequest.self), from: source)
      let meter = call.identity.caller.meter
      stream.produce(for: source) { [watch] producer in
        let watcher = try await watch.start(request)
        while true {
          let items = try await watcher.next()
          let states = items.count { $0.state != nil }
          // Each state is a read. A watch waits for its caller's rate, and loses nothing.
          while states > 0, let delay = meter.charge(.reads(states), now: .now()) {
            try await Task.sleep(for: delay)
          }
          for item in items {
            try await producer.send(try item.encoded(), cursor: item.cursor.description)
          }
          // Sent before the next states are loaded.
          try await producer.flush()
        }
      }
    } catch {
      stream.fail(RPCStatus(mapping: error))
    }
  }

  @Sendable
  private func listCustomers(_ call: RPCCall, _ answer: RPCAnswer) {
    let source = call.source
    answer.respond(to: call, ListCustomersRequest.self) { request in
      .later {
        let size = request.effectivePageSize
        let customers = try await states.page(
          in: request.scope, after: request.pageToken.map { AccountID($0) }, limit: size,
          for: source)
        // The token is the last account of the page, so that pages stay correct while accounts are
        // added.
        let next = customers.count < size ? nil : customers.last?.accountID?.rawValue
        return try ListCustomersResponse(customers: customers, nextPageToken: next).encoded()
      }
    }
  }
}

extension CustomerAnswer {
  /// The response of GetCustomerState, with the moment of this answer.
  fileprivate var message: StampedMessage {
    get throws {
      if moment == evaluated.evaluatedAt { return StampedMessage(encoded.bytes) }
      if let offset = encoded.momentOffset,
        let stamp = StampedMessage.Stamp(at: offset, moment.rawValue)
      {
        return StampedMessage(encoded.bytes, stamp: stamp)
      }
      // Only where the clock is before 1971 or after 2109.
      guard case .state(var later) = try GetCustomerStateResponse.decode(from: encoded.bytes) else {
        throw ServiceError(.internalFault, "the cached answer has no state")
      }
      later.evaluatedAt = moment
      return StampedMessage(try GetCustomerStateResponse.state(later).encoded())
    }
  }
}

extension CustomerSelector {
  /// Whether it is an id that the App Store gave.
  fileprivate var isOfTheAppStore: Bool {
    switch self {
    case .originalTransaction, .transaction, .appTransaction: true
    case .account, .appAccountToken: false
    }
  }
}

extension PlainRead {
  fileprivate var cacheKey: QueryBytes {
    switch selector {
    case .account: QueryBytes(account: id, bundleID: bundleID, environment: environment)
    case .originalTransaction:
      QueryBytes(originalTransaction: id, bundleID: bundleID, environment: environment)
    }
  }
}

extension ReadConsistency {
  /// The consistency in the type of the use cases.
  fileprivate var serviceConsistency: Consistency {
    switch self {
    case .minimizeLatency: .minimizeLatency
    case .atLeastAsFresh(let revision): .atLeastAsFresh(revision: revision)
    case .fullyConsistent: .fullyConsistent
    }
  }
}

// MARK: Messages of watches

extension WatchRequest {
  init(_ request: WatchCustomerStatesRequest, from source: WorkSource) throws {
    self.init(
      cursor: try request.cursor.map { try WatchCursor(parsing: $0) }, bundleID: request.bundleID,
      environment: request.environment, accounts: Set(request.accountIDs),
      kinds: ChangeKinds(request.kinds.map { ChangeKinds($0) }),
      isWithoutStates: request.isWithoutStates, source: source)
  }
}

extension WatchItem {
  /// The encoded message. Omits the state if change and state together do not fit a frame, as the
  /// watcher could not continue after it otherwise.
  func encoded() throws -> ByteBuffer {
    let response = WatchCustomerStatesResponse(
      cursor: cursor.description, change: change.map { CustomerChange($0) })
    if let state, let joined = try response.encoded(joining: try state.message.stamped()),
      joined.readableBytes <= RPCLimits.maximumFrameData
    {
      return joined
    }
    return try response.encoded()
  }
}

extension CustomerChange {
  init(_ change: Change) {
    self.init(
      sequence: change.sequence, scope: change.scope,
      subject: change.subject.map { SubmittedCustomer.Subject($0) },
      committedAt: change.committedAt,
      kinds: Set(ChangeKind.allCases.filter { change.kinds.contains(ChangeKinds($0)) }),
      events: change.events)
  }
}

extension ChangeKinds {
  init(_ kind: ChangeKind) {
    switch kind {
    case .facts: self = .facts
    case .linked: self = .linked
    case .unlinked: self = .unlinked
    case .grants: self = .grants
    case .events: self = .events
    case .merged: self = .merged
    case .deleted: self = .deleted
    }
  }
}
