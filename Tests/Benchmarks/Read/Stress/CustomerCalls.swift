import AccessControl
import EntitlementDomain
import Framing
import LoadClient
import NIOCore
import RPCClient
import Wire

/// Calls about simulated customers.
enum CustomerCalls {
  /// GetCustomerState.
  static func state(of index: Int, _ consistency: ReadConsistency = .minimizeLatency) throws
    -> RPCRequest
  {
    let method = WireMethods.getCustomerState
    return RPCRequest(
      service: method.service, method: method.name,
      payload: try GetCustomerStateRequest(
        customer: .account(BulkCustomers.account(at: index)), scope: BulkCustomers.scope,
        consistency: consistency
      ).encoded(),
      timeout: .seconds(10))
  }

  /// BatchGetCustomerState of these customers.
  static func states(of indices: Range<Int>, _ consistency: ReadConsistency = .minimizeLatency)
    throws -> RPCRequest
  {
    let method = WireMethods.batchGetCustomerState
    return RPCRequest(
      service: method.service, method: method.name,
      payload: try BatchGetCustomerStateRequest(
        customers: indices.map { .account(BulkCustomers.account(at: $0)) },
        scope: BulkCustomers.scope, consistency: consistency
      ).encoded(),
      timeout: .seconds(30))
  }

  /// The bytes of a frame with GetCustomerState as the first call of a connection.
  static func firstFrame(_ token: AccessToken? = nil) throws -> [UInt8] {
    let request = try state(of: 0)
    var data = ByteBuffer()
    RequestEnvelope.write(
      service: request.service, method: request.method, payload: request.payload,
      timeoutNanoseconds: 0,
      metadata: token.map { [(key: RequestEnvelope.authorizationName, value: "Bearer \($0.text)")] }
        ?? [],
      into: &data)
    return frame(length: UInt32(data.readableBytes), data: Array(data.readableBytesView))
  }

  /// A request frame whose header announces `length` bytes; the data may be shorter.
  static func frame(length: UInt32, data: [UInt8]) -> [UInt8] {
    var frame = ByteBuffer()
    FrameEncoder.writeHeader(
      FrameHeader(dataLength: length, streamID: StreamID(rawValue: 1), type: .request, flags: []),
      into: &frame)
    frame.writeBytes(data)
    return Array(frame.readableBytesView)
  }

  /// Reads the customers, one after the other on one connection, so that the server caches them.
  static func warm(
    _ count: Int, at address: ServerAddress, token: ClientToken? = nil
  ) async throws {
    let connection = try await RPCConnection.connect(to: RPCTarget(address, token: token))
    for start in stride(from: 0, to: count, by: BatchGetCustomerStateRequest.maximumCustomers) {
      _ = try await connection.answer(
        states(of: start..<min(start + BatchGetCustomerStateRequest.maximumCustomers, count)))
    }
    await connection.close()
  }
}

extension RPCConnection {
  /// The encoded answer.
  func answer(_ request: RPCRequest) async throws -> ByteBuffer {
    try await call(
      service: request.service, method: request.method, payload: request.payload,
      timeout: request.timeout)
  }
}
