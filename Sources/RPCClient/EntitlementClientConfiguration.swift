import Framing

/// The limits and retry settings of an ``EntitlementClient``. The defaults fit a service with a few
/// servers.
public struct EntitlementClientConfiguration: Sendable {
  /// The timeout of each call: the wait for a connection, all attempts, and the waits between them.
  /// Each attempt sends the remaining time to the server. Nil waits without limit. A watch has no
  /// timeout.
  public var timeout: Duration?
  /// Pairs that are sent with each call.
  public var metadata: [(key: String, value: String)]
  /// Shows the servers who calls; nil: no token is sent. See ``ClientToken``.
  public var token: ClientToken?
  /// For servers with TLS: see ``ClientTLS``. Nil: the authorities that the system trusts, and no
  /// client certificate.
  public var tls: ClientTLS?
  /// The timeout of one attempt to connect: the host lookup and the attempts for each of its
  /// addresses. A TLS handshake may take as long again.
  public var connectTimeout: Duration
  /// The most connections to one server. Many calls share a connection; the second one is
  /// opened when the first is busy. Limited to the range of 1 to 1,000.
  public var connectionsPerAddress: Int
  /// The most calls in flight on one connection; further calls wait. A server refuses more than
  /// 1,024 by default. Limited to the range of 1 to 1,000,000.
  public var callsPerConnection: Int
  /// The most calls that may wait for a connection or for capacity on one. Further calls fail with
  /// RESOURCE_EXHAUSTED.
  public var waitingCalls: Int
  /// The longest wait of a call for a connection or for capacity on one. The client keeps trying to
  /// connect meanwhile. When it had no connection for this time, calls fail at once until it has
  /// one.
  public var waitingTime: Duration
  /// When a failed call is attempted again.
  public var retries: RetryPolicy
  /// When a read has no answer after this time, it is sent a second time over another connection,
  /// and the first answer counts. The second request uses the budget of ``retries``. Nil turns
  /// hedging off.
  public var hedgingDelay: Duration?
  /// The most bytes of one stream that wait for its reader. The stream ends with RESOURCE_EXHAUSTED
  /// when its reader is further behind.
  public var streamReadBuffer: Int

  /// Makes a configuration. Each parameter is described at the property of its name.
  public init(
    timeout: Duration? = defaultTimeout, metadata: [(key: String, value: String)] = [],
    token: ClientToken? = nil, tls: ClientTLS? = nil, connectTimeout: Duration = .seconds(5),
    connectionsPerAddress: Int = 2,
    callsPerConnection: Int = 1_000, waitingCalls: Int = 10_000,
    waitingTime: Duration = .seconds(1), retries: RetryPolicy = RetryPolicy(),
    hedgingDelay: Duration? = nil, streamReadBuffer: Int = 4_194_304
  ) {
    self.timeout = timeout
    self.metadata = metadata
    self.token = token
    self.tls = tls
    self.connectTimeout = connectTimeout
    self.connectionsPerAddress = connectionsPerAddress
    self.callsPerConnection = callsPerConnection
    self.waitingCalls = waitingCalls
    self.waitingTime = waitingTime
    self.retries = retries
    self.hedgingDelay = hedgingDelay
    self.streamReadBuffer = streamReadBuffer
  }

  /// The default of ``timeout``, 30 seconds: longer than the largest submission takes on a busy
  /// server.
  public static let defaultTimeout = Duration.seconds(30)

  var pool: ConnectionPoolLimits {
    ConnectionPoolLimits(
      // Larger values are no limit in practice. Up to these, no sum overflows.
      connectionsPerAddress: min(max(1, connectionsPerAddress), 1_000),
      callsPerConnection: min(max(1, callsPerConnection), 1_000_000),
      waitingCalls: max(0, waitingCalls),
      waitingTime: waitingTime)
  }

  var connection: RPCLimits {
    RPCLimits(streamReadBuffer: streamReadBuffer)
  }
}
