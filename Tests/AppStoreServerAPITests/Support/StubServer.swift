import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on a loopback port that records requests and answers as it is told.
final class StubServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    let headers: HTTPHeaders
    let body: String

    /// Nil unless the scheme is `Bearer`.
    var token: String? {
      guard let field = headers.first(name: "authorization"), field.hasPrefix("Bearer ") else {
        return nil
      }
      return String(field.dropFirst("Bearer ".count))
    }
  }

  indirect enum Answer: Sendable {
    /// A whole answer.
    case whole(Int, [String: String], String)
    /// The head, with more bytes promised than sent; then the connection is closed.
    case cut(String)
    /// So many spaces of the body every few milliseconds, without an end.
    case drip(Int)
    /// Closes the connection without an answer.
    case hangUp
    /// No answer.
    case silence
    /// An answer after a moment that the test decides.
    case held(EventLoopFuture<Void>, Answer)

    static func json(_ body: String, status: Int = 200, headers: [String: String] = [:]) -> Answer {
      .whole(
        status, ["content-type": "application/json"].merging(headers) { _, given in given }, body)
    }

    /// An error as Apple sends it.
    static func error(_ code: Int, _ message: String = "No.", headers: [String: String] = [:])
      -> Answer
    {
      .json(
        #"{"errorCode":\#(code),"errorMessage":"\#(message)"}"#, status: code / 10_000,
        headers: headers)
    }
  }

  fileprivate struct State {
    var requests: [Request] = []
    var connections = 0
    var waiting: [(count: Int, reached: CheckedContinuation<Void, Never>)] = []
  }

  private let channel: any Channel
  private let state: Recorder

  fileprivate final class Recorder: Sendable {
    let answer: @Sendable (Request, _ index: Int) -> Answer
    fileprivate let state = Mutex(State())

    init(_ answer: @escaping @Sendable (Request, Int) -> Answer) {
      self.answer = answer
    }

    func connected() {
      state.withLock { $0.connections += 1 }
    }

    func received(_ request: Request) -> Answer {
      let (index, reached) = state.withLock { state in
        state.requests.append(request)
        let count = state.requests.count
        let reached = state.waiting.filter { $0.count <= count }.map(\.reached)
        state.waiting.removeAll { $0.count <= count }
        return (count - 1, reached)
      }
      for continuation in reached { continuation.resume() }
      return answer(request, index)
    }
  }

  /// - Parameter answer: to each request, with its index.
  init(_ answer: @escaping @Sendable (_ request: Request, _ index: Int) -> Answer) async throws {
    let recorder = Recorder(answer)
    state = recorder
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          recorder.connected()
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(StubHandler(recorder))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  /// Answers in this order; the last one again and again.
  convenience init(_ answers: [Answer]) async throws {
    try await self.init { _, index in answers[min(index, answers.count - 1)] }
  }

  deinit { channel.close(promise: nil) }

  var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }
  var requests: [Request] { state.state.withLock { $0.requests } }
  var connections: Int { state.state.withLock { $0.connections } }

  /// Waits until so many requests have arrived.
  func received(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isReached = state.state.withLock { state in
        if state.requests.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }
}

private final class StubHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let recorder: StubServer.Recorder
  private var head: HTTPRequestHead?
  private var body = ""

  init(_ recorder: StubServer.Recorder) {
    self.recorder = recorder
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      body = ""
    case .body(let buffer): body += String(buffer: buffer)
    case .end:
      guard let head else { return }
      let request = StubServer.Request(
        method: head.method.rawValue, target: head.uri, headers: head.headers, body: body)
      send(recorder.received(request), context)
    }
  }

  /// A client that gives up resets its connection.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func send(_ answer: StubServer.Answer, _ context: ChannelHandlerContext) {
    switch answer {
    case .silence: break
    case .held(let moment, let answer):
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      moment.hop(to: context.eventLoop).whenSuccess {
        let (handler, context) = bound.value
        handler.send(answer, context)
      }
    case .hangUp: context.close(promise: nil)
    case .whole(let status, let fields, let text):
      var headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
      headers.add(name: "content-length", value: "\(text.utf8.count)")
      write(status, headers, text, context)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    case .cut(let text):
      write(
        200, ["content-type": "application/json", "content-length": "\(text.utf8.count + 1)"], text,
        context)
      context.flush()
      context.close(promise: nil)
    case .drip(let count):
      write(
        200, ["content-type": "application/json", "transfer-encoding": "chunked"], " ", context)
      context.flush()
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) {
        task in
        let (handler, context) = bound.value
        guard context.channel.isActive else { return task.cancel() }
        context.writeAndFlush(
          handler.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(repeating: 0x20, count: count)))),
          promise: nil)
      }
    }
  }

  private func write(
    _ status: Int, _ headers: HTTPHeaders, _ text: String, _ context: ChannelHandlerContext
  ) {
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
  }
}
