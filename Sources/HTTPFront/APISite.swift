import Framing
package import NIOCore
package import NIOHTTP1
package import RPCServer
package import Wire

/// What callers reach: all methods by the Connect protocol, and what orchestrators and monitoring ask.
package struct APISite: HTTPSite {
  /// Writes the metrics of what GetStatistics answered to the caller, in the form that `Accept` names.
  package typealias MetricsBody =
    @Sendable (_ counters: [StatisticsCounter], _ accept: String?) -> (
      contentType: String, body: [UInt8]
    )

  package let kind = CallFront.connect
  private let connect: ConnectRoutes
  private let crossOrigin: CrossOrigin
  private let metrics: MetricsBody?
  private let isLocal: Bool

  /// - Parameters:
  ///   - isLocal: Whether requests for the name of another machine are refused. For a listener without
  ///     credentials: a page in a browser could make its own name lead to this machine, and would
  ///     then be of the same origin.
  ///   - forwardsAllFields: Whether all header fields become metadata of the call, and not only
  ///     those that the service reads.
  ///   - metrics: Nil: there is nothing at `/metrics`.
  package init(
    methods: [MethodDescription] = WireMethods.all, crossOrigin: CrossOrigin = CrossOrigin(),
    forwardsAllFields: Bool = false, isLocal: Bool = false, metrics: MetricsBody? = nil
  ) {
    self.isLocal = isLocal
    connect = ConnectRoutes(methods, forwarding: forwardsAllFields ? .all : .known)
    self.crossOrigin = crossOrigin
    self.metrics = metrics
  }

  package func route(_ head: HTTPRequestHead, now: NIODeadline) -> HTTPRoute {
    if isLocal, !head.isForLoopback {
      return .answer(HTTPAnswer(.misdirectedRequest, text: "use localhost or a loopback address"))
    }
    if let answer = crossOrigin.preflight(head) { return .answer(answer) }
    let (path, query) = head.target
    if let route = connect.route(head, path: path, query: query) { return route }
    switch path {
    case "/healthz": return HealthCheck.live(head)
    case "/readyz":
      return head.method == .GET ? .unary(HealthCheck()) : .answer(.notAllowed("GET"))
    case "/metrics":
      guard let metrics else { return .answer(.notFound) }
      guard head.method == .GET else { return .answer(.notAllowed("GET")) }
      return .unary(MetricsRequest(head.headers, body: metrics))
    default: return .answer(.notFound)
    }
  }

  package func commonFields(for head: HTTPRequestHead) -> [(String, String)] {
    crossOrigin.fields(for: head)
  }

  package func answer(to problem: RequestProblem) -> HTTPAnswer {
    ConnectError.answer(problem.rpcStatus, as: problem.httpStatus)
  }
}

extension HTTPRequestHead {
  /// Whether `Host` is a name or an address of this machine. HTTP/1.0 may leave it out.
  fileprivate var isForLoopback: Bool {
    guard let host = headers.first(name: "host") else { return true }
    let end = host.last == "]" ? host.endIndex : host.lastIndex(of: ":") ?? host.endIndex
    let name = host[..<end].drop { $0 == "[" }.prefix { $0 != "]" }
    return ServerAddress.tcp(host: String(name), port: 0).isLoopback
  }

  /// The path and the query of the target, which may be a whole URL (RFC 9112 section 3.2.2).
  var target: (path: Substring, query: Substring) {
    var target = uri[...]
    if !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") {
      target = target[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
    }
    guard let mark = target.firstIndex(of: "?") else { return (target, "") }
    return (target[..<mark], target[target.index(after: mark)...])
  }
}

/// `/readyz`: whether calls are answered, by Health/Check.
struct HealthCheck: UnaryTranslation {
  func call(
    from body: ByteBuffer, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    FramedCall(WireMethods.checkHealth)
  }

  func answer(to response: ResponseEnvelope, now: NIODeadline) -> HTTPAnswer {
    let check = try? HealthCheckResponse.decode(from: response.payload)
    let isServing = response.status == nil && check?.status == .serving
    return isServing
      ? HTTPAnswer(.ok, text: "ok")
      : HTTPAnswer(
        .serviceUnavailable, text: "not serving", fields: [HTTPAnswer.retryAfter(.seconds(1))])
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer {
    HTTPAnswer(problem.httpStatus, text: problem.text)
  }

  /// `/healthz`: this process answers.
  static func live(_ head: HTTPRequestHead) -> HTTPRoute {
    .answer(
      [.GET, .HEAD].contains(head.method)
        ? HTTPAnswer(.ok, text: "ok") : .notAllowed("GET, HEAD"))
  }
}

/// `/metrics`: needs the permission of GetStatistics, which is called first.
struct MetricsRequest: UnaryTranslation {
  private let authorization: [(key: String, value: String)]
  private let accept: String?
  private let body: APISite.MetricsBody

  init(_ headers: HTTPHeaders, body: @escaping APISite.MetricsBody) {
    let name = RequestEnvelope.authorizationName
    authorization = headers[name].map { (key: name, value: $0) }
    accept = headers.first(name: "accept")
    self.body = body
  }

  func call(
    from body: ByteBuffer, peer: RPCPeer, now: NIODeadline
  ) throws(HTTPAnswer) -> FramedCall {
    FramedCall(WireMethods.getStatistics, metadata: authorization)
  }

  func answer(to response: ResponseEnvelope, now: NIODeadline) -> HTTPAnswer {
    if let status = response.status { return ConnectError.answer(status) }
    guard let statistics = try? GetStatisticsResponse.decode(from: response.payload) else {
      return ConnectError.answer(RPCStatus(.internal))
    }
    let (contentType, bytes) = body(statistics.counters, accept)
    return HTTPAnswer(.ok, contentType: contentType, body: ByteBuffer(bytes: bytes))
  }

  func answer(to problem: RequestProblem) -> HTTPAnswer {
    ConnectError.answer(problem.rpcStatus, as: problem.httpStatus)
  }
}
