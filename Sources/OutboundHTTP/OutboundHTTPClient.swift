import AsyncHTTPClient
import Glibc
import NIOCore
package import NIOHTTP1
import NIOPosix

/// The answer to one request.
package struct OutboundAnswer: Sendable {
  package let status: Int
  package let headers: HTTPHeaders
  /// Empty if the body is longer than the client accepts.
  package let body: [UInt8]
  package let isTooLong: Bool

  package var isSuccess: Bool { (200..<300).contains(status) }
}

/// Why a request has no answer. It shows neither the request nor its address.
package enum OutboundFault: Error, Hashable, Sendable, CustomStringConvertible {
  case timeout
  case cancelled
  case shutDown
  /// Other requests used all connections.
  case busy
  /// No connection could be opened.
  case unsent(String)
  /// The request may have arrived.
  case interrupted(String)

  package var description: String {
    switch self {
    case .timeout: "no answer in time"
    case .cancelled: "the task was cancelled"
    case .shutDown: "the client is shut down"
    case .busy: "no connection was free in time"
    case .unsent(let reason), .interrupted(let reason): reason
    }
  }
}

/// Sends requests to other servers over kept connections. Redirects are not followed, no proxy is used,
/// nothing is decompressed, and no request is repeated. Safe on any thread.
package final class OutboundHTTPClient: Sendable {
  private let client: HTTPClient
  private let responseLength: Int
  /// The longest body of an answer that is no success, in bytes. Those of APIs have about 100. A longer
  /// body is usually the page of a proxy.
  private static let errorLength = 65_536

  /// - Parameters:
  ///   - connectionsPerHost: how many connections to one host may be open.
  ///   - connectionTime: the time until a request has a connection: until one is opened, with TLS, or
  ///     until one that other requests use is free.
  ///   - idleTime: how long an idle connection is kept open.
  ///   - responseLength: the longest body that is accepted, in bytes.
  ///   - isTraced: whether requests have spans in the traces of their callers. They hold the URL.
  package init(
    connectionsPerHost: Int, connectionTime: Duration = .seconds(10), idleTime: Duration,
    responseLength: Int, isTraced: Bool = false
  ) {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connectionTime)),
      connectionPool: .init(
        idleTimeout: TimeAmount(idleTime),
        concurrentHTTP1ConnectionsPerHostSoftLimit: connectionsPerHost),
      proxy: nil, decompression: .disabled)
    configuration.httpVersion = .http1Only
    // Callers repeat requests themselves, within their limits.
    configuration.connectionPool.retryConnectionEstablishment = false
    if !isTraced { configuration.tracing.tracer = nil }
    client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    self.responseLength = responseLength
  }

  /// - Parameter time: from name resolution to the last byte of the answer.
  package func answer(
    to method: HTTPMethod, _ url: String, _ headers: HTTPHeaders, _ body: [UInt8]?,
    within time: Duration
  ) async throws(OutboundFault) -> OutboundAnswer {
    var request = HTTPClientRequest(url: url)
    request.method = method
    request.headers = headers
    if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
    do {
      // The library's deadline covers only the head of the answer. This one also covers the body.
      return try await withThrowingTaskGroup(of: OutboundAnswer.self) { [request] group in
        group.addTask { try await self.exchange(request, within: time) }
        group.addTask {
          try await Task.sleep(for: time)
          throw OutboundFault.timeout
        }
        defer { group.cancelAll() }
        guard let answer = try await group.next() else { throw CancellationError() }
        return answer
      }
    } catch {
      throw Self.fault(error)
    }
  }

  /// Cancels requests in flight and closes all connections. Must be called once, before the client is
  /// released.
  package func shutDown() async {
    // A second call fails without effect.
    try? await client.shutdown()
  }

  private func exchange(
    _ request: HTTPClientRequest, within time: Duration
  ) async throws -> OutboundAnswer {
    let response = try await client.execute(request, timeout: TimeAmount(time))
    let status = Int(response.status.code)
    let isSuccess = (200..<300).contains(status)
    var body: [UInt8]?
    do {
      // The connection is used again only if the body was read.
      body = Array(
        buffer: try await response.body.collect(
          upTo: isSuccess ? responseLength : min(responseLength, Self.errorLength)))
    } catch is NIOTooManyBytesError {
      body = nil
    }
    return OutboundAnswer(
      status: status, headers: response.headers, body: body ?? [], isTooLong: body == nil)
  }

  private static func fault(_ error: any Error) -> OutboundFault {
    if let fault = error as? OutboundFault { return fault }
    if Task.isCancelled { return .cancelled }
    switch error {
    case let error as HTTPClientError: return fault(error)
    case is CancellationError: return .shutDown
    case is NIOConnectionError: return .unsent("no connection")
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      return .unsent("no connection")
    default: return .interrupted("\(type(of: error))")
    }
  }

  private static func fault(_ error: HTTPClientError) -> OutboundFault {
    switch error {
    case .deadlineExceeded: .timeout
    // The library cancels its requests when it is shut down.
    case .alreadyShutdown, .cancelled: .shutDown
    case .getConnectionFromPoolTimeout: .busy
    case .connectTimeout, .tlsHandshakeTimeout: .unsent("no connection in time")
    default: .interrupted(error.shortDescription.lowercased())
    }
  }
}
