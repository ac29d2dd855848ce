package import EntitlementDomain
import NIOCore
package import Wire

/// The service's calls with typed requests and answers, over one connection that any number of
/// tasks may share.
///
///     let address = try ServerAddress(parsing: "127.0.0.1:7100")
///     let client = try await EntitlementClient.connect(to: address)
///     let answer = try await client.customerState(
///       GetCustomerStateRequest(customer: .account("account-1"), scope: scope))
///     await client.close()
///
/// Every call throws ``RPCClientError``. A request that cannot be sent is `invalidArgument`, an
/// answer that cannot be read `internal`.
package struct EntitlementClient: Sendable {
  package let connection: RPCConnection
  /// How long each call may take; nil waits for ever. A watch is not held to it.
  package var timeout: Duration?
  /// Sent with each call.
  package var metadata: [(key: String, value: String)]

  package init(
    connection: RPCConnection, timeout: Duration? = defaultTimeout,
    metadata: [(key: String, value: String)] = []
  ) {
    self.connection = connection
    self.timeout = timeout
    self.metadata = metadata
  }

  /// Longer than the largest submission takes on a busy server.
  package static let defaultTimeout = Duration.seconds(30)

  /// - Throws: ``RPCClientError`` with `unreachable`.
  package static func connect(
    to address: ServerAddress, connectTimeout: Duration = .seconds(5),
    timeout: Duration? = defaultTimeout, limits: RPCLimits = RPCLimits()
  ) async throws(RPCClientError) -> EntitlementClient {
    EntitlementClient(
      connection: try await RPCConnection.connect(
        to: address, connectTimeout: connectTimeout, limits: limits),
      timeout: timeout)
  }

  package func customerState(
    _ request: GetCustomerStateRequest
  ) async throws(RPCClientError) -> GetCustomerStateResponse {
    try await call(WireMethods.getCustomerState, request)
  }

  /// The states of at most ``MessageLimits/batchSize`` customers.
  package func customerStates(
    _ request: BatchGetCustomerStateRequest
  ) async throws(RPCClientError) -> BatchGetCustomerStateResponse {
    try await call(WireMethods.batchGetCustomerState, request)
  }

  package func checkEntitlement(
    _ request: CheckEntitlementRequest
  ) async throws(RPCClientError) -> CheckEntitlementResponse {
    try await call(WireMethods.checkEntitlement, request)
  }

  /// Why a customer's state is what it is; at another moment or under another catalog if asked.
  package func explain(
    _ request: ExplainCustomerStateRequest
  ) async throws(RPCClientError) -> ExplainCustomerStateResponse {
    try await call(WireMethods.explainCustomerState, request)
  }

  /// One page; ``customers(in:pageSize:)`` goes through all.
  package func listCustomers(
    _ request: ListCustomersRequest
  ) async throws(RPCClientError) -> ListCustomersResponse {
    try await call(WireMethods.listCustomers, request)
  }

  /// All accounts of an app and environment, by account id, fetched page by page.
  package func customers(
    in scope: AppScope, pageSize: Int = MessageLimits.largestPageSize
  ) -> CustomerSequence {
    CustomerSequence(
      client: self, firstPage: ListCustomersRequest(scope: scope, pageSize: pageSize))
  }

  /// Hands in at most ``MessageLimits/submissionSize`` payloads. Idempotent: after an error it may
  /// be repeated.
  package func submitSignedTransactions(
    _ request: SubmitSignedTransactionsRequest
  ) async throws(RPCClientError) -> SubmitSignedTransactionsResponse {
    try await call(WireMethods.submitSignedTransactions, request)
  }

  /// Idempotent: after an error it may be repeated.
  package func submitNotification(
    _ request: SubmitNotificationRequest
  ) async throws(RPCClientError) -> SubmitNotificationResponse {
    try await call(WireMethods.submitNotification, request)
  }

  /// Hands in a legacy app receipt. Idempotent: after an error it may be repeated.
  package func submitReceipt(
    _ request: SubmitReceiptRequest
  ) async throws(RPCClientError) -> SubmitReceiptResponse {
    try await call(WireMethods.submitReceipt, request)
  }

  /// - Parameter service: Full name of a service; empty asks for the server as a whole.
  package func health(
    of service: String = ""
  ) async throws(RPCClientError) -> HealthCheckResponse.ServingStatus {
    try await call(WireMethods.checkHealth, HealthCheckRequest(service: service)).status
  }

  /// The status now, and again with each change, for as long as the connection lives.
  package func watchHealth(
    of service: String = ""
  ) throws(RPCClientError) -> HealthStatusSequence {
    HealthStatusSequence(
      messages: try stream(WireMethods.watchHealth, HealthCheckRequest(service: service)))
  }

  /// Calls in flight fail.
  package func close() async {
    await connection.close()
  }

  func call<Request, Response>(
    _ method: WireMethod<Request, Response>, _ request: Request
  ) async throws(RPCClientError) -> Response {
    let answer = try await connection.call(
      service: method.service, method: method.name, payload: try Self.payload(request),
      timeout: timeout, metadata: metadata)
    return try Self.decode(Response.self, from: answer)
  }

  /// - Parameters:
  ///   - timeout: for the whole stream.
  ///   - silence: how long it may go without a message; nil: for ever.
  func stream<Request, Response>(
    _ method: WireMethod<Request, Response>, _ request: Request, timeout: Duration? = nil,
    silence: Duration? = nil
  ) throws(RPCClientError) -> RPCMessageStream {
    connection.serverStream(
      service: method.service, method: method.name, payload: try Self.payload(request),
      timeout: timeout, silence: silence, metadata: metadata)
  }

  private static func payload(_ request: some WireMessage) throws(RPCClientError) -> ByteBuffer {
    do throws(MessageError) {
      return try request.encoded()
    } catch {
      throw RPCClientError(.status(.invalidArgument), "the request cannot be sent: \(error)")
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
