import NIOHTTP1
package import OutboundHTTP

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

/// A collector of OTLP over HTTP.
package final class HTTPTraceCollector: TraceCollector {
  private let client: OutboundHTTPClient
  private let url: String
  private let fields: HTTPHeaders
  private let answerTime: Duration

  /// - Parameters:
  ///   - address: the base address, to which the path of traces is added.
  ///   - answerTime: the time of one request, to the last byte of its answer.
  package init(
    _ address: OutboundAddress, _ headers: CollectorHeaders, answerTime: Duration = .seconds(10)
  ) {
    // Nothing of the body is used.
    client = OutboundHTTPClient(
      connectionsPerHost: 1, idleTime: .seconds(60), responseLength: 65_536)
    url = "\(address)/v1/traces"
    fields = HTTPHeaders(
      [("content-type", "application/json")] + headers.fields.map { ($0.name, $0.value) })
    self.answerTime = answerTime
  }

  package func post(_ document: [UInt8]) async throws -> CollectorAnswer {
    // Also of an answer that is too long, the status says whether the spans were taken: to send them
    // again would double them.
    let answer = try await client.answer(to: .POST, url, fields, document, within: answerTime)
    return CollectorAnswer(
      status: answer.status,
      retryAfter: answer.headers.first(name: "retry-after").flatMap(Int.init).map {
        .seconds(max(0, min($0, 3_600)))
      })
  }

  /// Cancels requests and closes connections. Must be called once, before the collector is released.
  package func shutDown() async {
    await client.shutDown()
  }
}
