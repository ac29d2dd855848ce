import NIOHTTP1
import OutboundHTTP
import Verification

/// Sends OCSP requests over HTTP (RFC 6960 appendix A). Safe on any thread.
///
/// Only `http:` is supported. Responses are signed, so `https:` would add nothing and would first
/// need trusted certificates of its own.
package final class HTTPStatusResponder: StatusResponder {
  private let client: OutboundHTTPClient
  private let limits: HTTPStatusLimits

  package init(limits: HTTPStatusLimits = HTTPStatusLimits()) {
    client = OutboundHTTPClient(
      connectionsPerHost: limits.connectionsPerHost, idleTime: limits.idleTime,
      responseLength: limits.answerLength, isTraced: true)
    self.limits = limits
  }

  /// - Throws: ``HTTPStatusError`` or `OutboundFault`.
  package func answer(to request: [UInt8], at url: String) async throws -> [UInt8] {
    guard url.lowercased().hasPrefix("http://") else {
      throw HTTPStatusError(.unsupportedAddress, "only http: is supported")
    }
    let answer = try await client.answer(
      to: .POST, url,
      ["content-type": "application/ocsp-request", "accept": "application/ocsp-response"], request,
      within: limits.answerTime)
    guard answer.status == 200 else {
      throw HTTPStatusError(.refused, "HTTP status \(answer.status)")
    }
    guard !answer.isTooLong else {
      throw HTTPStatusError(.tooLong, "the answer is longer than \(limits.answerLength) bytes")
    }
    return answer.body
  }

  /// Cancels requests in flight and closes all connections. Must be called once, before the
  /// responder is released.
  package func shutDown() async {
    await client.shutDown()
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

/// Why an OCSP request over HTTP was not sent, or its answer is no OCSP response.
package struct HTTPStatusError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    case unsupportedAddress
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
