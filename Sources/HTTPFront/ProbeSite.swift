import Framing
package import NIOCore
package import NIOHTTP1
package import RPCServer
package import Wire

/// What orchestrators and monitoring ask: whether the process lives, whether it serves, and its metrics.
package struct ProbeSite: HTTPSite {
  /// Writes the metrics of what GetStatistics answered to the caller, in the form that `Accept` names.
  package typealias MetricsBody =
    @Sendable (_ counters: [StatisticsCounter], _ accept: String?) -> (
      contentType: String, body: [UInt8]
    )

  package let kind = CallFront.connect
  private let metrics: MetricsBody?
  private let isLocal: Bool

  /// - Parameters:
  ///   - isLocal: Whether requests for the name of another machine are refused: see ``APISite``.
  ///   - metrics: Nil: there is nothing at `/metrics`.
  package init(isLocal: Bool = false, metrics: MetricsBody? = nil) {
    self.isLocal = isLocal
    self.metrics = metrics
  }

  package func route(_ head: HTTPRequestHead, now: NIODeadline) -> HTTPRoute {
    if isLocal, !head.isForLoopback { return .answer(.misdirected) }
    switch head.target.path {
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

  package func answer(to problem: RequestProblem) -> HTTPAnswer {
    HTTPAnswer(problem.httpStatus, text: problem.text)
  }
}

/// `/readyz`: whether calls are answered, by Health/Check.
struct HealthCheck: UnaryTranslation {
  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
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
  private let body: ProbeSite.MetricsBody

  init(_ headers: HTTPHeaders, body: @escaping ProbeSite.MetricsBody) {
    let name = RequestEnvelope.authorizationName
    authorization = headers[name].map { (key: name, value: $0) }
    accept = headers.first(name: "accept")
    self.body = body
  }

  func call(
    from body: ByteBuffer?, peer: RPCPeer, now: NIODeadline
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
