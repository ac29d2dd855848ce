import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import StoreSimulator

/// Posts notifications to a developer's server, as the App Store does. Redirects are not followed,
/// and no proxy is used.
package final class NotificationSender: Sendable {
  /// What came of an attempt.
  struct Outcome: Sendable {
    let result: SendAttemptResult
    /// Whether the App Store sends again, if it has attempts left.
    let isRetried: Bool
  }

  package let url: String
  private let client: HTTPClient
  private let patience: Duration

  /// Bytes of the body of an answer that are read. The App Store ignores it.
  private static let answerLength = 65_536
  /// How long the body of an answer may take.
  private static let bodyPatience = Duration.seconds(1)

  /// - Parameter patience: how long the head of an answer may take. Apple's limit is not published.
  package init(url: String, patience: Duration = .seconds(10)) {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, proxy: nil, decompression: .disabled)
    configuration.httpVersion = .http1Only
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.tracing.tracer = nil
    configuration.timeout.connect = TimeAmount(patience)
    client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    self.url = url
    self.patience = patience
  }

  /// - Returns: nil when the task was cancelled before there was an answer.
  func post(_ signedPayload: String) async -> Outcome? {
    var body = JSONObjectWriter()
    body.set("signedPayload", signedPayload)
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers = ["content-type": "application/json"]
    request.body = .bytes(ByteBuffer(bytes: body.bytes))
    do {
      let response = try await client.execute(request, timeout: TimeAmount(patience))
      await Self.read(response.body)
      let status = response.status.code
      if (200...206).contains(status) { return Outcome(result: .success, isRetried: false) }
      // Since March 2026 the App Store no longer repeats what was answered with 400.
      return Outcome(result: .unsuccessfulStatus, isRetried: status != 400)
    } catch {
      if Task.isCancelled { return nil }
      return Outcome(result: Self.result(of: error), isRetried: true)
    }
  }

  /// Reads a body, so that the connection is used again. One that takes too long is given up with
  /// its connection: the client's own limit ends with the head.
  private static func read(_ body: HTTPClientResponse.Body) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = try? await body.collect(upTo: Self.answerLength) }
      group.addTask { try? await Task.sleep(for: Self.bodyPatience) }
      await group.next()
      group.cancelAll()
    }
  }

  private static func result(of error: any Error) -> SendAttemptResult {
    switch error {
    case let error as HTTPClientError:
      switch error {
      case .deadlineExceeded, .readTimeout, .connectTimeout: .timedOut
      case .remoteConnectionClosed: .prematureClose
      case .tlsHandshakeTimeout: .tlsIssue
      default: .other
      }
    case is HTTPParserError: .invalidResponse
    case is NIOConnectionError, is IOError: .socketIssue
    default: .other
    }
  }

  /// Closes the connections. Must be called once, before it is released.
  package func shutDown() async {
    // A second call fails without effect.
    try? await client.shutdown()
  }
}
