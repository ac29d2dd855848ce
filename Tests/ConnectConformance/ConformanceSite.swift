import Framing
import HTTPFront
import NIOCore
import NIOHTTP1
import RPCServer
import Synchronization

/// The site of the product with what its own answers never have: header fields, trailers and details that
/// the service chooses. It also tells the service of a GET.
struct ConformanceSite: HTTPSite {
  let base: APISite
  /// Bytes of a message; nil: the front's own limit.
  let messageLimit: Int?

  var kind: CallFront { base.kind }

  func route(_ head: HTTPRequestHead, now: NIODeadline) -> HTTPRoute {
    let query =
      head.method == .GET
      ? head.uri.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) : nil
    switch base.route(head, now: now) {
    case .answer(let answer): return .answer(answer)
    case .unary(let unary):
      return .unary(ConformanceUnary(base: unary, query: query, messageLimit: messageLimit))
    case .stream(let stream):
      return .stream(ConformanceStream(base: stream, messageLimit: messageLimit))
    }
  }

  func commonFields(for head: HTTPRequestHead) -> [(String, String)] {
    base.commonFields(for: head)
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer { base.answer(to: problem) }
}

/// A unary call whose answer is a ``Reply``.
struct ConformanceUnary: UnaryTranslation {
  let base: any UnaryTranslation
  let query: String?
  let messageLimit: Int?

  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    var call = try base.call(from: body, peer: peer, now: now)
    if let messageLimit, call.wireMessage.readableBytes > messageLimit {
      throw answer(to: .bodyTooLong(limit: messageLimit))
    }
    if let query { call.metadata.append((key: ConformanceService.queryKey, value: query)) }
    return call
  }

  func answer(to response: ResponseEnvelope, now: NIODeadline) -> HTTPAnswer {
    guard response.status == nil, let reply = try? Reply(decoding: response.payload) else {
      return base.answer(to: response, now: now)
    }
    var answer: HTTPAnswer
    if let error = reply.error {
      answer = ConnectError.answer(error.status, details: reply.details)
    } else {
      let message = ResponseEnvelope(payload: reply.message ?? ByteBuffer())
      answer = base.answer(to: message, now: now)
    }
    for field in reply.headers {
      answer.fields += field.values.map { (field.name, $0) }
    }
    for field in reply.trailers {
      answer.fields += field.values.map { ("trailer-\(field.name)", $0) }
    }
    return answer
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer { base.answer(to: problem) }
}

extension FramedCall {
  /// The message in protobuf; empty if it is invalid, which the call is refused for.
  fileprivate var wireMessage: ByteBuffer {
    guard let conversion else { return payload }
    return (try? conversion.converted().get()) ?? ByteBuffer()
  }
}

/// A stream whose messages are ``Reply``s, the last of which has its end.
///
/// The head of the response is written when the call begins, before the service has answered: its fields
/// are read from the request.
final class ConformanceStream: StreamTranslation {
  private let base: any StreamTranslation
  private let messageLimit: Int?
  private let headers = Mutex<[(String, String)]>([])
  private let ending = Mutex<Reply?>(nil)

  init(base: any StreamTranslation, messageLimit: Int?) {
    self.base = base
    self.messageLimit = messageLimit
  }

  var fields: [(String, String)] { base.fields + headers.withLock { $0 } }

  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    let call = try base.call(from: body, peer: peer, now: now)
    if let messageLimit, call.wireMessage.readableBytes > messageLimit {
      throw answer(to: .bodyTooLong(limit: messageLimit))
    }
    let definition = try? ResponseDefinition(ofRequest: call.wireMessage, isStream: true)
    headers.withLock {
      $0 = (definition?.headers ?? []).flatMap { field in field.values.map { (field.name, $0) } }
    }
    return call
  }

  func message(_ payload: ByteBuffer) -> ByteBuffer? {
    guard let reply = try? Reply(decoding: payload) else { return nil }
    guard let message = reply.message else {
      ending.withLock { $0 = reply }
      return ByteBuffer()
    }
    return base.message(message)
  }

  func end(_ status: RPCStatus?) -> ByteBuffer {
    guard status == nil, let reply = ending.withLock({ $0 }) else { return base.end(status) }
    return ConnectEnvelope.end(
      reply.error?.status, details: reply.details,
      metadata: reply.trailers.map { (name: $0.name, values: $0.values) })
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer { base.answer(to: problem) }
}
