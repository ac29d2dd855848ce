import Framing
package import NIOCore
package import NIOHTTP1
package import RPCServer
package import Wire

/// What callers reach: all methods by the Connect protocol, and what orchestrators and monitoring ask.
package struct APISite: HTTPSite {
  package let kind = CallFront.connect
  private let connect: ConnectRoutes
  private let crossOrigin: CrossOrigin
  private let probes: ProbeSite
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
    forwardsAllFields: Bool = false, isLocal: Bool = false, metrics: ProbeSite.MetricsBody? = nil
  ) {
    self.isLocal = isLocal
    connect = ConnectRoutes(methods, forwarding: forwardsAllFields ? .all : .known)
    self.crossOrigin = crossOrigin
    probes = ProbeSite(metrics: metrics)
  }

  package func route(_ head: HTTPRequestHead, now: NIODeadline) -> HTTPRoute {
    if isLocal, !head.isForLoopback { return .answer(.misdirected) }
    if let answer = crossOrigin.preflight(head) { return .answer(answer) }
    let (path, query) = head.target
    if let route = connect.route(head, path: path, query: query) { return route }
    return probes.route(head, now: now)
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
  var isForLoopback: Bool {
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
