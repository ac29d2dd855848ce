import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Verification

/// Sends OCSP requests over HTTP (RFC 6960 appendix A). Safe on any thread.
///
/// Only `http:` is supported. Responses are signed, so `https:` would add nothing and would first
/// need trusted certificates of its own. Redirects are not followed, and no proxy is used.
package final class HTTPStatusResponder: StatusResponder {
  private let client: HTTPClient
  private let limits: HTTPStatusLimits

  package init(limits: HTTPStatusLimits = HTTPStatusLimits()) {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      connectionPool: .init(
        idleTimeout: .nanoseconds(limits.idleTime.nanoseconds),
        concurrentHTTP1ConnectionsPerHostSoftLimit: limits.connectionsPerHost),
      proxy: nil, decompression: .disabled)
    configuration.httpVersion = .http1Only
    // The timeout is short: a responder that does not accept the connection counts as down.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    self.limits = limits
  }

  /// - Throws: ``HTTPStatusError``, or an error of the HTTP client.
  package func answer(to request: [UInt8], at url: String) async throws -> [UInt8] {
    guard url.lowercased().hasPrefix("http://") else {
      throw HTTPStatusError(.unsupportedAddress, "only http: is supported")
    }
    // The client's deadline covers only the response head. This one also covers the body.
    return try await withThrowingTaskGroup(of: [UInt8].self) { [limits] group in
      group.addTask { try await self.exchange(request, at: url) }
      group.addTask {
        try await Task.sleep(for: limits.answerTime)
        throw HTTPStatusError(.timeout, "no answer within \(limits.answerTime)")
      }
      defer { group.cancelAll() }
      guard let answer = try await group.next() else { throw CancellationError() }
      return answer
    }
  }

  /// Cancels requests in flight and closes all connections. Must be called once, before the
  /// responder is released.
  package func shutDown() async {
    // A second call fails without effect.
    try? await client.shutdown()
  }

  private func exchange(_ request: [UInt8], at url: String) async throws -> [UInt8] {
    var message = HTTPClientRequest(url: url)
    message.method = .POST
    message.headers.add(name: "Content-Type", value: "application/ocsp-request")
    message.headers.add(name: "Accept", value: "application/ocsp-response")
    message.body = .bytes(ByteBuffer(bytes: request))
    let response = try await client.execute(
      message, timeout: .nanoseconds(limits.answerTime.nanoseconds))
    guard response.status == .ok else {
      throw HTTPStatusError(.refused, "HTTP status \(response.status.code)")
    }
    do {
      return Array(buffer: try await response.body.collect(upTo: limits.answerLength))
    } catch is NIOTooManyBytesError {
      throw HTTPStatusError(
        .tooLong, "the answer is longer than \(limits.answerLength) bytes")
    }
  }
}

extension Duration {
  /// Cannot overflow for limits, which are small.
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}

/// Limits of OCSP requests over HTTP.
package struct HTTPStatusLimits: Hashable, Sendable {
  /// Timeout of one request, from name resolution to the last byte of the response. Responders
  /// answer within a second. Submissions occasionally wait for it, so it is shorter than usual
  /// client timeouts.
  package var answerTime: Duration
  /// Bytes of a response, 64 KiB. Typical responses have 1 to 3 kB.
  package var answerLength: Int
  /// A few certificates are queried every few hours, so more are not needed.
  package var connectionsPerHost: Int
  /// How long an idle connection is kept open. The next request to the same host comes immediately
  /// or hours later.
  package var idleTime: Duration

  package init(
    answerTime: Duration = .seconds(5), answerLength: Int = 65_536, connectionsPerHost: Int = 4,
    idleTime: Duration = .seconds(5)
  ) {
    self.answerTime = answerTime
    self.answerLength = answerLength
    self.connectionsPerHost = connectionsPerHost
    self.idleTime = idleTime
  }
}

/// An error of an OCSP request over HTTP. Errors of the HTTP client are passed on unchanged.
package struct HTTPStatusError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    case unsupportedAddress
    case timeout
    /// The HTTP status is not 200. Redirects are not followed.
    case refused
    case tooLong
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
