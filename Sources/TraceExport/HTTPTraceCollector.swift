import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// What takes the spans.
package protocol TraceCollector: Sendable {
  /// - Throws: any error of the transport. Such a request may be repeated.
  func post(_ document: [UInt8]) async throws -> CollectorAnswer
}

/// The answer of a collector.
package struct CollectorAnswer: Hashable, Sendable {
  package let status: Int
  /// When the request may be repeated.
  package let retryAfter: Duration?

  package init(status: Int, retryAfter: Duration? = nil) {
    self.status = status
    self.retryAfter = retryAfter
  }
}

/// A collector of OTLP over HTTP. Redirects are not followed, and no proxy is used.
package final class HTTPTraceCollector: TraceCollector {
  private let client: HTTPClient
  private let address: CollectorAddress
  private let fields: HTTPHeaders
  private let answerTime: Duration

  /// Bytes of an answer. It says nothing that is used.
  private static let answerLength = 65_536

  /// - Parameter answerTime: the time of one request, to the last byte of its answer.
  package init(
    _ address: CollectorAddress, _ headers: CollectorHeaders, answerTime: Duration = .seconds(10)
  ) {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      connectionPool: .init(
        idleTimeout: .seconds(60), concurrentHTTP1ConnectionsPerHostSoftLimit: 1),
      proxy: nil, decompression: .disabled)
    configuration.httpVersion = .http1Only
    // The exporter repeats requests itself.
    configuration.connectionPool.retryConnectionEstablishment = false
    // An export is no part of any call.
    configuration.tracing.tracer = nil
    client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    self.address = address
    self.answerTime = answerTime
    fields = HTTPHeaders(
      [("content-type", "application/json")] + headers.fields.map { ($0.name, $0.value) })
  }

  package func post(_ document: [UInt8]) async throws -> CollectorAnswer {
    // The client's deadline covers only the head of the answer. This one also covers the body.
    try await withThrowingTaskGroup(of: CollectorAnswer.self) { [answerTime] group in
      group.addTask { try await self.exchange(document) }
      group.addTask {
        try await Task.sleep(for: answerTime)
        throw CollectorTimeout(time: answerTime)
      }
      defer { group.cancelAll() }
      guard let answer = try await group.next() else { throw CancellationError() }
      return answer
    }
  }

  private func exchange(_ document: [UInt8]) async throws -> CollectorAnswer {
    var request = HTTPClientRequest(url: address.url)
    request.method = .POST
    request.headers = fields
    request.body = .bytes(ByteBuffer(bytes: document))
    let response = try await client.execute(request, timeout: TimeAmount(answerTime))
    do {
      // The connection is used again only if the answer was read.
      _ = try await response.body.collect(upTo: Self.answerLength)
    } catch is NIOTooManyBytesError {
      // The status says whether the spans were taken: to send them again would double them.
    }
    return CollectorAnswer(
      status: Int(response.status.code),
      retryAfter: response.headers.first(name: "retry-after").flatMap(Int.init).map {
        .seconds(max(0, min($0, 3_600)))
      })
  }

  /// Cancels requests and closes connections. Must be called once, before the collector is released.
  package func shutDown() async {
    // A second call fails without effect.
    try? await client.shutdown()
  }
}

private struct CollectorTimeout: Error, CustomStringConvertible {
  let time: Duration

  var description: String { "no answer within \(time)" }
}
