package import Framing
package import NIOCore
package import NIOHTTP1
package import RPCServer

/// What a listener serves: decides about each request by its head.
package protocol HTTPSite: Sendable {
  /// How its calls are counted.
  var kind: CallFront { get }

  /// - Parameter now: the time, for rates.
  func route(_ head: HTTPRequestHead, now: NIODeadline) -> HTTPRoute

  /// Fields of every answer to this request.
  func commonFields(for head: HTTPRequestHead) -> [(String, String)]

  /// The answer to a request that was not accepted.
  func answer(to problem: RequestProblem) -> HTTPAnswer
}

extension HTTPSite {
  package func commonFields(for head: HTTPRequestHead) -> [(String, String)] { [] }
}

/// What becomes of a request.
package enum HTTPRoute: Sendable {
  /// Answered without a call.
  case answer(HTTPAnswer)
  /// A call with one answer.
  case unary(any UnaryTranslation)
  /// A call that is answered by a stream of messages.
  case stream(any StreamTranslation)
}

/// Translates one request into a call.
package protocol RequestTranslation: Sendable {
  /// - Parameter body: nil: it was not kept, as its caller was not known when it arrived.
  /// - Throws: the answer to a body from which no call can be made.
  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall

  /// The answer to a request that was not accepted.
  func answer(to problem: RequestProblem) -> HTTPAnswer
}

/// Translates the answer of a unary call.
package protocol UnaryTranslation: RequestTranslation {
  func answer(to response: ResponseEnvelope, now: NIODeadline) -> HTTPAnswer
}

/// Translates the messages of a stream.
package protocol StreamTranslation: RequestTranslation {
  /// Of the response, which is always OK.
  var fields: [(String, String)] { get }

  /// - Returns: nil if the message cannot be translated.
  func message(_ payload: ByteBuffer) -> ByteBuffer?

  /// The last part of the body.
  ///
  /// - Parameter status: nil if the stream ended successfully.
  func end(_ status: RPCStatus?) -> ByteBuffer
}

/// Why a request is not accepted, whatever it asks for.
package enum RequestProblem: Hashable, Sendable {
  /// Not HTTP, or not a request that an HTTP/1.1 server must understand.
  case malformed
  case headerTooLong
  case bodyTooLong(limit: Int)
  /// Longer than ``HTTPFrontLimits/unknownBody``, from no known caller.
  case noCredential
  case tooSlow
  /// The bodies of other connections take the memory for bodies.
  case noMemory
  case shuttingDown

  package var httpStatus: HTTPResponseStatus {
    switch self {
    case .malformed: .badRequest
    case .headerTooLong: .requestHeaderFieldsTooLarge
    case .bodyTooLong: .payloadTooLarge
    case .noCredential: .unauthorized
    case .tooSlow: .requestTimeout
    case .noMemory, .shuttingDown: .serviceUnavailable
    }
  }

  package var text: String {
    switch self {
    case .malformed: "not a valid HTTP/1.1 request"
    case .headerTooLong:
      "the header is longer than \(HTTPFrontLimits.headerList) bytes or has more than "
        + "\(HTTPFrontLimits.headerFields) fields"
    case .bodyTooLong(let limit): "the body is longer than \(limit) bytes"
    case .noCredential:
      "a body longer than \(HTTPFrontLimits.unknownBody) bytes needs a valid credential"
    case .tooSlow: "the request did not arrive in time"
    case .noMemory: "the memory for request bodies is in use; try again"
    case .shuttingDown: "the server is shutting down"
    }
  }

  /// For clients of RPC.
  package var rpcStatus: RPCStatus {
    switch self {
    case .malformed: RPCStatus(.invalidArgument, text)
    case .headerTooLong, .bodyTooLong: RPCStatus(.resourceExhausted, text)
    case .noCredential: RPCStatus(.unauthenticated, text)
    case .tooSlow: RPCStatus(.deadlineExceeded, text)
    case .noMemory: RPCStatus(.resourceExhausted, text, retryDelay: .seconds(1))
    case .shuttingDown:
      RPCStatus(
        .unavailable, text,
        errorInfo: RPCStatus.ErrorInfo(reason: RPCStatus.shuttingDownReason, domain: "entitle"),
        retryDelay: .seconds(1))
    }
  }
}
