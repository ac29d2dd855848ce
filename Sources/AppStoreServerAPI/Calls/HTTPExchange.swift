import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// The answer to one request.
struct AppStoreServerAnswer: Sendable {
  let status: Int
  let contentType: String?
  let retryAfter: String?
  let body: [UInt8]

  var isSuccess: Bool { (200..<300).contains(status) }
}

/// Why a request has no answer.
enum TransportFault: Error {
  case deadline
  case cancelled
  case tooLong
  case shutDown
  /// Other requests used all connections.
  case busy
  /// No connection could be opened.
  case unsent(String)
  /// The request may have arrived.
  case interrupted(String)

  var isTimeout: Bool {
    if case .deadline = self { true } else { false }
  }
}

/// Sends requests over kept connections. Redirects are not followed, and no proxy is used.
final class HTTPExchange: Sendable {
  private let client: HTTPClient
  private let responseLength: Int
  /// The longest body of an error, in bytes. Apple's have about 100. A longer body, such as the page
  /// of a proxy, is discarded.
  private static let errorLength = 65_536

  init(_ limits: AppStoreServerLimits) {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      // Also the limit of waiting for a connection that is in use.
      timeout: .init(connect: TimeAmount(limits.connectionTime)),
      connectionPool: .init(
        idleTimeout: TimeAmount(limits.idleTime),
        concurrentHTTP1ConnectionsPerHostSoftLimit: limits.connectionsPerHost),
      proxy: nil, decompression: .disabled)
    configuration.httpVersion = .http1Only
    // The client repeats requests itself, within its limits.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Its spans would hold the URL, which has the id of a transaction.
    configuration.tracing.tracer = nil
    client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    responseLength = limits.responseLength
  }

  /// - Parameter time: until the last byte of the answer.
  func answer(
    to request: AppStoreServerRequest, at url: String, token: String, within time: Duration
  ) async throws(TransportFault) -> AppStoreServerAnswer {
    var message = HTTPClientRequest(url: url)
    message.method = request.method
    message.headers = [
      "authorization": "Bearer \(token)", "accept": "application/json", "user-agent": "entitle",
    ]
    if let body = request.body {
      message.headers.add(name: "content-type", value: "application/json")
      message.body = .bytes(ByteBuffer(bytes: body))
    }
    do {
      // The library's deadline covers only the head of the answer. This one also covers the body.
      return try await withThrowingTaskGroup(of: AppStoreServerAnswer.self) { [message] group in
        group.addTask { try await self.exchange(message, within: time) }
        group.addTask {
          try await Task.sleep(for: time)
          throw TransportFault.deadline
        }
        defer { group.cancelAll() }
        guard let answer = try await group.next() else { throw CancellationError() }
        return answer
      }
    } catch {
      throw Self.fault(error)
    }
  }

  /// Cancels requests in flight and closes all connections. Must be called once.
  func shutDown() async {
    // A second call fails without effect.
    try? await client.shutdown()
  }

  private func exchange(
    _ message: HTTPClientRequest, within time: Duration
  ) async throws -> AppStoreServerAnswer {
    let response = try await client.execute(message, timeout: TimeAmount(time))
    let isSuccess = (200..<300).contains(response.status.code)
    var body: [UInt8] = []
    do {
      body = Array(
        buffer: try await response.body.collect(
          upTo: isSuccess ? responseLength : Self.errorLength))
    } catch is NIOTooManyBytesError {
      // The status of an error says enough without its body.
      if isSuccess { throw TransportFault.tooLong }
    }
    return AppStoreServerAnswer(
      status: Int(response.status.code),
      contentType: response.headers.first(name: "content-type"),
      retryAfter: response.headers.first(name: "retry-after"), body: body)
  }

  private static func fault(_ error: any Error) -> TransportFault {
    if let fault = error as? TransportFault { return fault }
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

  private static func fault(_ error: HTTPClientError) -> TransportFault {
    switch error {
    case .deadlineExceeded: .deadline
    // The library cancels its requests when it is shut down.
    case .alreadyShutdown, .cancelled: .shutDown
    case .getConnectionFromPoolTimeout: .busy
    case .connectTimeout, .tlsHandshakeTimeout: .unsent("no connection in time")
    default: .interrupted(error.shortDescription.lowercased())
    }
  }
}
