public import EntitlementDomain
import NIOCore
import NIOPosix
public import Wire

/// The service's calls with typed requests and answers, over connections that any number of tasks
/// share.
///
///     let client = EntitlementClient(try ServerAddress(parsing: "127.0.0.1:7100"))
///     let answer = try await client.customerState(
///       GetCustomerStateRequest(customer: .account("account-1"), scope: scope))
///     await client.close()
///
/// With several addresses the calls spread over all servers. Connections are made when there is a
/// call for them, and again when they are lost. Copies of a client share them, and may differ in
/// ``timeout`` and ``metadata``.
///
/// Every call throws ``RPCClientError``. A request that cannot be sent is `invalidArgument`, an
/// answer that cannot be read `internal`.
public struct EntitlementClient: Sendable {
  /// How long each call may take, in all; nil waits for ever. A watch is not held to it.
  public var timeout: Duration?
  /// Sent with each call.
  public var metadata: [(key: String, value: String)]
  private let runner: CallRunner

  /// Makes no connection yet.
  public init(
    _ addresses: ServerAddress...,
    configuration: EntitlementClientConfiguration = EntitlementClientConfiguration()
  ) {
    self.init(addresses, configuration: configuration)
  }

  /// Makes no connection yet.
  public init(
    _ addresses: [ServerAddress],
    configuration: EntitlementClientConfiguration = EntitlementClientConfiguration()
  ) {
    timeout = configuration.timeout
    metadata = configuration.metadata
    runner = CallRunner(
      // Not every client is to begin with the same server.
      pool: ConnectionPool(
        addresses: addresses.shuffled(), connectTimeout: configuration.connectTimeout,
        pool: configuration.pool, reconnecting: Self.reconnecting, limits: configuration.connection,
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton),
      retries: configuration.retries, hedgingDelay: configuration.hedgingDelay)
  }

  /// Waits between attempts to connect to a server that cannot be reached.
  private static let reconnecting = Backoff(initial: .milliseconds(100), maximum: .seconds(10))

  /// A client that has its first connection.
  ///
  /// - Throws: ``RPCClientError`` with `unreachable` when no server can be reached.
  public static func connect(
    to addresses: ServerAddress...,
    configuration: EntitlementClientConfiguration = EntitlementClientConfiguration()
  ) async throws(RPCClientError) -> EntitlementClient {
    let client = EntitlementClient(addresses, configuration: configuration)
    try await client.runner.pool.connectFirst()
    return client
  }

  public func customerState(
    _ request: GetCustomerStateRequest
  ) async throws(RPCClientError) -> GetCustomerStateResponse {
    try await call(WireMethods.getCustomerState, request)
  }

  /// The states of at most ``MessageLimits/batchSize`` customers.
  public func customerStates(
    _ request: BatchGetCustomerStateRequest
  ) async throws(RPCClientError) -> BatchGetCustomerStateResponse {
    try await call(WireMethods.batchGetCustomerState, request)
  }

  public func checkEntitlement(
    _ request: CheckEntitlementRequest
  ) async throws(RPCClientError) -> CheckEntitlementResponse {
    try await call(WireMethods.checkEntitlement, request)
  }

  /// Why a customer's state is what it is; at another moment or under another catalog if asked.
  public func explain(
    _ request: ExplainCustomerStateRequest
  ) async throws(RPCClientError) -> ExplainCustomerStateResponse {
    try await call(WireMethods.explainCustomerState, request)
  }

  /// One page; ``customers(in:pageSize:)`` goes through all.
  public func listCustomers(
    _ request: ListCustomersRequest
  ) async throws(RPCClientError) -> ListCustomersResponse {
    try await call(WireMethods.listCustomers, request)
  }

  /// All accounts of an app and environment, by account id, fetched page by page.
  public func customers(
    in scope: AppScope, pageSize: Int = ListCustomersRequest.largestPageSize
  ) -> PageSequence<CustomerState> {
    PageSequence { token async throws(RPCClientError) in
      var request = ListCustomersRequest(scope: scope, pageSize: pageSize)
      request.pageToken = token
      let response = try await listCustomers(request)
      return (response.customers, response.nextPageToken)
    }
  }

  /// Hands in at most ``MessageLimits/submissionSize`` payloads. Idempotent: after an error it may
  /// be repeated.
  public func submitSignedTransactions(
    _ request: SubmitSignedTransactionsRequest
  ) async throws(RPCClientError) -> SubmitSignedTransactionsResponse {
    try await call(WireMethods.submitSignedTransactions, request)
  }

  /// Idempotent: after an error it may be repeated.
  public func submitNotification(
    _ request: SubmitNotificationRequest
  ) async throws(RPCClientError) -> SubmitNotificationResponse {
    try await call(WireMethods.submitNotification, request)
  }

  /// Hands in a legacy app receipt. Idempotent: after an error it may be repeated.
  public func submitReceipt(
    _ request: SubmitReceiptRequest
  ) async throws(RPCClientError) -> SubmitReceiptResponse {
    try await call(WireMethods.submitReceipt, request)
  }

  /// How a service is doing, and the version of the server.
  ///
  /// - Parameter service: Full name of a service; empty asks for the server as a whole.
  public func health(
    of service: String = ""
  ) async throws(RPCClientError) -> HealthCheckResponse {
    try await call(WireMethods.checkHealth, HealthCheckRequest(service: service))
  }

  /// The status now, and again with each change, for as long as the connection lives.
  public func watchHealth(
    of service: String = ""
  ) throws(RPCClientError) -> HealthStatusSequence {
    HealthStatusSequence(
      messages: try stream(WireMethods.watchHealth, HealthCheckRequest(service: service)))
  }

  /// Takes no more calls and waits for those in flight; then closes all connections. Streams end at
  /// once.
  ///
  /// - Parameter time: for calls in flight, which fail with `connectionClosed` afterwards. Cancelling
  ///   the task ends it early.
  public func close(within time: Duration = .seconds(5)) async {
    await runner.pool.close(within: time)
  }

  /// - Parameter idempotency: nil: that of the method.
  func call<Request, Response>(
    _ method: WireMethod<Request, Response>, _ request: Request, idempotency: Idempotency? = nil
  ) async throws(RPCClientError) -> Response {
    let answer = try await runner.run(
      try rpcRequest(method, request), idempotency ?? method.idempotency)
    return try Self.decode(Response.self, from: answer)
  }

  /// - Parameters:
  ///   - timeout: for the whole stream.
  ///   - silence: how long it may go without a message; nil: for ever.
  func stream<Request, Response>(
    _ method: WireMethod<Request, Response>, _ request: Request, timeout: Duration? = nil,
    silence: Duration? = nil
  ) throws(RPCClientError) -> RPCMessageStream {
    runner.pool.serverStream(
      try rpcRequest(method, request), until: .after(timeout), silence: silence)
  }

  private func rpcRequest<Request, Response>(
    _ method: WireMethod<Request, Response>, _ request: Request
  ) throws(RPCClientError) -> RPCRequest {
    RPCRequest(
      service: method.service, method: method.name, payload: try Self.payload(request),
      timeout: timeout, metadata: metadata)
  }

  private static func payload(_ request: some WireMessage) throws(RPCClientError) -> ByteBuffer {
    do throws(MessageError) {
      return try request.encoded()
    } catch {
      throw RPCClientError(.status(.invalidArgument), "the request cannot be sent: \(error)").unsent
    }
  }

  static func decode<Response: WireMessage>(
    _ type: Response.Type, from answer: ByteBuffer
  ) throws(RPCClientError) -> Response {
    do throws(MessageError) {
      return try Response.decode(from: answer)
    } catch {
      throw RPCClientError(.status(.internal), "the answer cannot be read: \(error)")
    }
  }
}
