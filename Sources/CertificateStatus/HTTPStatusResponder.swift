import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Verification

/// Posts questions for the status of certificates to the responders that certificates name (RFC 6960
/// appendix A). Safe on any thread.
///
/// Only `http:` is spoken. Answers are signed by those who issued the certificates, so that nothing
/// is gained by `https:`, which would need certificates of its own to be trusted before. Redirects
/// are not followed, and no proxy is used.
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
    // The time for one answer is short: a responder that does not take the connection is down.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    self.limits = limits
  }

  /// - Throws: ``HTTPStatusError``, or what the network says.
  package func answer(to request: [UInt8], at url: String) async throws -> [UInt8] {
    guard url.lowercased().hasPrefix("http://") else {
      throw HTTPStatusError(.unsupportedAddress, "only http: is spoken")
    }
    // The client's own deadline ends with the head of the answer; this one is for all of it.
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

  /// Ends what is under way, and all connections. Once only, and before the responder goes away.
  package func shutDown() async {
    // It fails when it was shut down before, which changes nothing.
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
  /// Of a limit, which is far below the range.
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
