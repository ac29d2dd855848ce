public import EntitlementDomain
public import Framing
import NIOCore
import NIOPosix
public import Wire

/// The calls of the service with typed requests and answers, over a pool of connections that any
/// number of tasks share.
///
///     let client = EntitlementClient(try ServerAddress(parsing: "127.0.0.1:7100"))
///     let answer = try await client.customerState(
///       GetCustomerStateRequest(customer: .account("account-1"), scope: scope))
///     await client.close()
///
/// With several addresses, the client spreads its calls over all servers. It connects when a call
/// needs a connection, and again after a connection was lost. Copies of a client share its
/// connections, and each copy has its own ``timeout`` and ``metadata``.
///
/// Every call throws ``RPCClientError``. A request that cannot be sent fails with
/// `invalidArgument`, and an answer that cannot be decoded with `internal`. A call of a cancelled
/// task fails with `cancelled`.
public struct EntitlementClient: Sendable {
  /// The timeout of each call, with the wait for a connection and all attempts; nil waits without
  /// limit. A watch has no timeout.
  public var timeout: Duration?
  /// Pairs that are sent with each call.
  public var metadata: [(key: String, value: String)]
  private let runner: CallRunner

  /// Makes a client. It does not connect yet.
  ///
  /// - Parameters:
  ///   - addresses: the servers, all of one service.
  ///   - configuration: limits and retry settings.
  public init(
    _ addresses: ServerAddress...,
    configuration: EntitlementClientConfiguration = EntitlementClientConfiguration()
  ) {
    self.init(addresses, configuration: configuration)
  }

  /// Makes a client. It does not connect yet.
  ///
  /// - Parameters:
  ///   - addresses: the servers, all of one service. Without any, each call fails with
  ///     `unreachable`.
  ///   - configuration: limits and retry settings.
  public init(
    _ addresses: [ServerAddress],
    configuration: EntitlementClientConfiguration = EntitlementClientConfiguration()
  ) {
    timeout = configuration.timeout
    metadata = configuration.metadata
    runner = CallRunner(
      // Shuffled, so that not all clients begin with the same server.
      pool: ConnectionPool(
        addresses: addresses.shuffled(), tls: configuration.tls,
        token: configuration.token, connectTimeout: configuration.connectTimeout,
        pool: configuration.pool, reconnecting: Self.reconnecting, limits: configuration.connection,
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton),
      retries: configuration.retries, hedgingDelay: configuration.hedgingDelay)
  }

  /// The pauses between attempts to connect to a server that cannot be reached.
  private static let reconnecting = Backoff(initial: .milliseconds(100), maximum: .seconds(10))

  /// Makes a client and opens its first connection.
  ///
  /// - Parameters:
  ///   - addresses: the servers, all of one service.
  ///   - configuration: limits and retry settings.
  /// - Throws: ``RPCClientError`` with `unreachable` when no server can be reached.
  public static func connect(
    to addresses: ServerAddress...,
    configuration: EntitlementClientConfiguration = EntitlementClientConfiguration()
  ) async throws(RPCClientError) -> EntitlementClient {
    let client = EntitlementClient(addresses, configuration: configuration)
    try await client.runner.pool.connectFirst()
    return client
  }

  /// Closes the client. New calls fail with `clientClosed`. It waits for the calls in flight, then
  /// closes all connections. Watches end at once with `connectionClosed`.
  ///
  /// - Parameter time: the longest wait. Calls that are still in flight then fail with
  ///   `connectionClosed`. Cancelling the task ends the wait early.
  public func close(within time: Duration = .seconds(5)) async {
    await runner.pool.close(within: time)
  }

  // MARK: Reading states

  /// Reads the state of one customer.
  ///
  /// A customer without any facts has the state ``CoreState/new``; that is not an error.
  ///
  /// - Parameter request: the customer, the app and environment, and optionally a consistency, a
  ///   moment, and the revision that the caller has cached.
  /// - Returns: the state, or ``GetCustomerStateResponse/notModified(revision:)`` when the revision
  ///   in the request is still current.
  /// - Throws: ``RPCClientError``.
  public func customerState(
    _ request: GetCustomerStateRequest
  ) async throws(RPCClientError) -> GetCustomerStateResponse {
    try await call(WireMethods.getCustomerState, request)
  }

  /// Reads the states of several customers of one app and environment.
  ///
  /// - Parameter request: at most ``BatchGetCustomerStateRequest/maximumCustomers`` customers.
  /// - Returns: one result for each customer, in the order of the request.
  /// - Throws: ``RPCClientError``.
  public func customerStates(
    _ request: BatchGetCustomerStateRequest
  ) async throws(RPCClientError) -> BatchGetCustomerStateResponse {
    try await call(WireMethods.batchGetCustomerState, request)
  }

  /// Checks whether a customer has an entitlement. It has the smallest answer of all reads.
  ///
  /// - Parameter request: the customer, the app and environment, and the entitlement.
  /// - Returns: whether it is granted, and until when. An entitlement that is not in the catalog is
  ///   not granted.
  /// - Throws: ``RPCClientError``.
  public func checkEntitlement(
    _ request: CheckEntitlementRequest
  ) async throws(RPCClientError) -> CheckEntitlementResponse {
    try await call(WireMethods.checkEntitlement, request)
  }

  /// Explains the state of a customer: the facts that were considered, the rules that decided, and
  /// the changes to expect.
  ///
  /// - Parameter request: the customer, and optionally another moment or another catalog.
  /// - Returns: the state with one explanation for each entitlement and subscription group.
  /// - Throws: ``RPCClientError``; `invalidArgument` when the catalog in the request is not valid.
  public func explain(
    _ request: ExplainCustomerStateRequest
  ) async throws(RPCClientError) -> ExplainCustomerStateResponse {
    try await call(WireMethods.explainCustomerState, request)
  }

  /// Reads one page of the accounts of an app and environment. ``customers(in:pageSize:)`` reads
  /// all pages.
  ///
  /// - Parameter request: the app and environment, the page size, and the token of the page.
  /// - Returns: the states of one page, and the token of the next one.
  /// - Throws: ``RPCClientError``.
  public func listCustomers(
    _ request: ListCustomersRequest
  ) async throws(RPCClientError) -> ListCustomersResponse {
    try await call(WireMethods.listCustomers, request)
  }

  /// The states of all accounts of an app and environment, in the order of their ids. Each page is
  /// requested when the iteration reaches it.
  ///
  /// - Parameters:
  ///   - scope: the app and environment.
  ///   - pageSize: the accounts of one request, at most ``ListCustomersRequest/largestPageSize``.
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

  // MARK: Submissions

  /// Submits signed transactions, renewal infos and app transactions. The server verifies and
  /// stores each payload separately.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: 1 to ``SubmitSignedTransactionsRequest/maximumItems`` payloads.
  /// - Returns: one result for each payload, in the order of the request, and the customers
  ///   concerned. A refused payload is a result with its verdict, not an error.
  /// - Throws: ``RPCClientError``.
  public func submitSignedTransactions(
    _ request: SubmitSignedTransactionsRequest
  ) async throws(RPCClientError) -> SubmitSignedTransactionsResponse {
    try await call(WireMethods.submitSignedTransactions, request)
  }

  /// Submits an App Store Server Notification (version 2). The server verifies it and stores it
  /// with the facts inside it.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: the value of `signedPayload` in the body of the notification.
  /// - Returns: the verdict, the results of the payloads inside, and the events to handle.
  /// - Throws: ``RPCClientError``.
  public func submitNotification(
    _ request: SubmitNotificationRequest
  ) async throws(RPCClientError) -> SubmitNotificationResponse {
    try await call(WireMethods.submitNotification, request)
  }

  /// Submits a legacy app receipt (PKCS#7). The server verifies it and stores its purchases. A
  /// signed transaction overrides what a receipt says of the same purchase.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: the receipt in DER, or in the base64 of it, at most 1 MiB of DER.
  /// - Returns: the verdict, a summary of the receipt, and the results of its purchases.
  /// - Throws: ``RPCClientError``.
  public func submitReceipt(
    _ request: SubmitReceiptRequest
  ) async throws(RPCClientError) -> SubmitReceiptResponse {
    try await call(WireMethods.submitReceipt, request)
  }

  // MARK: Watching

  /// The default time without a response after which a watch ends: 60 seconds. A server sends at
  /// least two responses in this time, even when nothing changes.
  public static let defaultWatchSilence = Duration.seconds(60)

  /// Watches for changes as they are committed. The watch starts at once, over a connection of its
  /// own; errors are thrown when it is read.
  ///
  /// - Parameters:
  ///   - request: where to start, and which changes to send.
  ///   - silence: the longest time without a response, after which the watch ends with
  ///     `connectionClosed`; nil sets no limit.
  /// - Returns: the responses. Reading them throws ``CustomerWatchError``.
  /// - Throws: ``RPCClientError`` with `invalidArgument` for a request that cannot be sent.
  public func watchCustomerStates(
    _ request: WatchCustomerStatesRequest, silence: Duration? = defaultWatchSilence
  ) throws(RPCClientError) -> CustomerWatchSequence {
    CustomerWatchSequence(
      messages: try stream(WireMethods.watchCustomerStates, request, silence: silence),
      cursor: request.cursor)
  }

  // MARK: Health

  /// Reads the status of a service and the version of the server.
  ///
  /// - Parameter service: the full proto name of a service; empty asks for the server as a whole.
  /// - Throws: ``RPCClientError``; `notFound` for a service that the server does not have.
  public func health(
    of service: String = ""
  ) async throws(RPCClientError) -> HealthCheckResponse {
    try await call(WireMethods.checkHealth, HealthCheckRequest(service: service))
  }

  /// Watches the status of a service: the current one, then each change.
  ///
  /// - Parameter service: the full proto name of a service; empty asks for the server as a whole.
  /// - Returns: the responses. Reading them throws ``RPCClientError``.
  /// - Throws: ``RPCClientError`` with `invalidArgument` for a request that cannot be sent.
  public func watchHealth(
    of service: String = ""
  ) throws(RPCClientError) -> HealthStatusSequence {
    HealthStatusSequence(
      messages: try stream(WireMethods.watchHealth, HealthCheckRequest(service: service)))
  }

  // MARK: Sending

  /// Makes a unary call.
  ///
  /// - Parameter idempotency: nil takes that of the method.
  func call<Request, Response>(
    _ method: WireMethod<Request, Response>, _ request: Request, idempotency: Idempotency? = nil
  ) async throws(RPCClientError) -> Response {
    let answer = try await runner.run(
      try rpcRequest(method, request), idempotency ?? method.idempotency)
    return try Self.decode(Response.self, from: answer)
  }

  /// Starts a server-streaming call.
  ///
  /// - Parameters:
  ///   - timeout: for the whole stream.
  ///   - silence: the longest time without a message; nil sets no limit.
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
