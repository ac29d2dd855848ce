import Framing
import NIOCore
import Traces

/// The spans of a connection's calls. Used on its event loop.
struct ConnectionTracing {
  let tracer: CallTracer
  /// How many calls are not sampled before the next one that is, unless their callers ask for it.
  var untracedCalls: Int
  /// Of calls in flight that are traced: hardly ever one.
  var spans: [CallID: CallSpan] = [:]

  init(_ tracer: CallTracer) {
    self.tracer = tracer
    untracedCalls = tracer.callsUntilSample()
  }

  /// What the span of a call is a child of; nil if the call is not traced.
  ///
  /// A caller's decision counts. Calls without a valid trace are sampled by chance.
  fileprivate mutating func parent(of request: RequestEnvelope) -> TraceContext? {
    let isDrawn = untracedCalls == 0
    untracedCalls = isDrawn ? tracer.callsUntilSample() : untracedCalls - 1
    guard isDrawn || request.trace == .sampled else { return nil }
    if request.trace != .none {
      let metadata = request.metadata
      let asked = TraceContext(
        parents: metadata[CallTracer.parentName], states: metadata[CallTracer.stateName])
      if let asked { return asked.isSampled ? asked : nil }
    }
    return isDrawn ? .root() : nil
  }
}

extension ServerConnectionHandler {
  /// Decides whether a call is traced, and starts its span. Only for calls whose caller is known and may
  /// make them: others cannot fill the buffer of spans. Anybody can post to the webhook, so its connections
  /// have no `tracing`.
  func startSpan(of call: ServerCall) -> CallSpan? {
    guard let parent = tracing?.parent(of: call.request) else { return nil }
    let span = tracing?.tracer.startCall(
      router.fullName(of: call.method), system: peer.front.systemName, in: parent,
      age: (peer.eventLoop.now - call.id.arrival).nanoseconds)
    tracing?.spans[call.id] = span
    return span
  }

  /// The call has ended now.
  func endSpan(of call: CallID, _ code: RPCCode) {
    guard tracing?.spans.isEmpty == false, let span = tracing?.spans.removeValue(forKey: call)
    else { return }
    span.endCall(code: code.name, isOK: code == .ok, isFault: code.isFaultOfServer)
  }

  /// Runs `body` so that the log lines and tasks of a traced call belong to its span.
  func logging(_ span: CallSpan?, _ body: () -> Void) {
    if let span {
      span.withCurrent(body)
    } else {
      body()
    }
  }
}

extension RPCCode {
  /// The codes that make a span of a server one of an error (OpenTelemetry's conventions for gRPC). Others
  /// tell of an error of the caller.
  fileprivate var isFaultOfServer: Bool {
    switch self {
    case .unknown, .deadlineExceeded, .unimplemented, .internal, .unavailable, .dataLoss: true
    default: false
    }
  }
}
