import AccessControl
import EntitlementDomain
import EntitlementService
import Framing
import HTTPFront
import Logging
import MetricsExposition
import NIOCore
import NIOPosix
import RPCServer
import ServiceMetrics
import Wire

/// The HTTP listeners of the settings, with event loops of their own: what is sent to those of one kind
/// does not delay the others. Listeners of one kind share a set of limits.
struct HTTPListeners: Sendable {
  /// For callers: two at least, so that a connection that keeps one busy does not delay all others.
  static let callerLoops = max(2, System.coreCount)
  /// One for the App Store and one for probes, which callers cannot delay.
  static let eventLoops = callerLoops + 2

  let listeners: [RPCListener]
  private let names: [String]
  private let fronts: [(name: String, front: HTTPFront)]
  private let groups: [MultiThreadedEventLoopGroup]

  /// - Parameters:
  ///   - connections: The limit of open connections of the server.
  ///   - knowsSigner: Whether a signed payload names a signer that is known.
  init(
    settings: Settings, connections: Int, catalog: CatalogHolder, metrics: ServiceMetrics,
    logger: Logger, knowsSigner: @escaping @Sendable (String) -> Bool
  ) {
    var listeners: [RPCListener] = []
    var names: [String] = []
    var fronts: [(String, HTTPFront)] = []
    var groups: [MultiThreadedEventLoopGroup] = []
    func add(
      _ addresses: [ServerAddress], _ name: String, _ identity: Identity?,
      _ site: @autoclosure () -> any HTTPSite, _ limits: HTTPFrontLimits, loops: Int = 1,
      isForOperators: Bool = false
    ) {
      if addresses.isEmpty { return }
      let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
      let front = HTTPFront(site(), limits: limits, group: group)
      listeners += addresses.map {
        RPCListener($0, front: front, identity: identity, isForOperators: isForOperators)
      }
      names += addresses.map { _ in name }
      fronts.append((name, front))
      groups.append(group)
    }
    let page: ProbeSite.MetricsBody = { counters, accept in
      let values = counters.map { StatisticValue($0.name, $0.value) }
      let page = metrics.page(of: values, accept: accept)
      return (page.contentType, page.body)
    }
    func isLocal(_ addresses: [ServerAddress]) -> Bool {
      settings.credentialsPath == nil && addresses.allSatisfy(\.isLoopback)
    }
    add(
      settings.httpListen, "http", nil,
      APISite(
        crossOrigin: CrossOrigin(settings.corsOrigins), isLocal: isLocal(settings.httpListen),
        metrics: page),
      HTTPFrontLimits(), loops: Self.callerLoops)
    add(
      settings.webhookListen, "webhook", .apple,
      WebhookSite(
        trustedProxies: settings.webhookTrustedProxies, logger: logger,
        hasApp: { catalog.snapshot.catalog.apps[BundleID($0)] != nil }, knowsSigner: knowsSigner),
      .webhook(sharing: connections))
    add(
      settings.probeListen, "probe", nil,
      ProbeSite(isLocal: isLocal(settings.probeListen), metrics: page), .probes,
      isForOperators: true)
    self.listeners = listeners
    self.names = names
    self.fronts = fronts
    self.groups = groups
  }

  /// What the log says of bound addresses: `http:HOST:PORT`, `webhook:tls:HOST:PORT`.
  ///
  /// - Parameter count: How many addresses of the framed front come first.
  func names(of bound: [ServerAddress], afterFramed count: Int) -> [String] {
    bound.prefix(count).map(\.description)
      + zip(names, bound.dropFirst(count)).map { "\($0):\($1)" }
  }

  /// What GetStatistics tells of them.
  var values: [StatisticValue] {
    fronts.flatMap { name, front in
      let statistics = front.statistics
      var values = [
        StatisticValue("http.connections.\(name)", statistics.connectionsOpen),
        StatisticValue("http.connections_refused.\(name)", statistics.connectionsRefused),
        StatisticValue("http.body_bytes.\(name)", statistics.bodyBytes),
        StatisticValue("http.body_bytes_limit.\(name)", statistics.bodyBytesLimit),
      ]
      if statistics.connectionsLimit < .max {
        values.append(
          StatisticValue("http.connections_limit.\(name)", statistics.connectionsLimit))
      }
      return values
        + statistics.responses.sorted { $0.key < $1.key }.map { status, count in
          StatisticValue("http.responses.\(name).\(status)", count)
        }
    }
  }

  /// Ends the event loops. Their connections are closed by now.
  func shutDown() async {
    for group in groups {
      // Fails only if it was shut down before.
      try? await group.shutdownGracefully()
    }
  }
}
