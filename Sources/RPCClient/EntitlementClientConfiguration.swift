import Wire

/// How a client behaves. Every bound has a default that fits a service with a few servers.
public struct EntitlementClientConfiguration: Sendable {
  /// How long each call may take, with waiting for a connection, all attempts and the waits between
  /// them; what is left of it is told to the server. Nil waits for ever. A watch is not held to it.
  public var timeout: Duration?
  /// Sent with each call.
  public var metadata: [(key: String, value: String)]
  /// For looking up a host and connecting to each of its addresses.
  public var connectTimeout: Duration
  /// Connections to one server, each shared by many calls. The second is made when the first is
  /// busy. Held to 1 to 1,000.
  public var connectionsPerAddress: Int
  /// Calls in flight on one connection; further ones wait. A server refuses more than 1,024 of them
  /// by default. Held to 1 to 1,000,000.
  public var callsPerConnection: Int
  /// Calls that may wait for a connection or for room on one; further ones fail with
  /// RESOURCE_EXHAUSTED.
  public var waitingCalls: Int
  /// How long a call waits for a connection or for room on one, while connections are made again
  /// and again. Once there was none for so long, calls fail at once as long as that lasts.
  public var waitingTime: Duration
  public var retries: RetryPolicy
  /// After this time a read that has no answer yet is sent once more over another connection, and
  /// the first answer counts. That comes out of the budget of ``retries``. Nil: never.
  public var hedgingDelay: Duration?
  /// Bytes of one stream that are kept for its reader; it ends when they are not read in time.
  public var streamReadBuffer: Int

  public init(
    timeout: Duration? = defaultTimeout, metadata: [(key: String, value: String)] = [],
    connectTimeout: Duration = .seconds(5), connectionsPerAddress: Int = 2,
    callsPerConnection: Int = 1_000, waitingCalls: Int = 10_000,
    waitingTime: Duration = .seconds(1), retries: RetryPolicy = RetryPolicy(),
    hedgingDelay: Duration? = nil, streamReadBuffer: Int = 4_194_304
  ) {
    self.timeout = timeout
    self.metadata = metadata
    self.connectTimeout = connectTimeout
    self.connectionsPerAddress = connectionsPerAddress
    self.callsPerConnection = callsPerConnection
    self.waitingCalls = waitingCalls
    self.waitingTime = waitingTime
    self.retries = retries
    self.hedgingDelay = hedgingDelay
    self.streamReadBuffer = streamReadBuffer
  }

  /// Longer than the largest submission takes on a busy server.
  public static let defaultTimeout = Duration.seconds(30)

  var pool: ConnectionPoolLimits {
    ConnectionPoolLimits(
      // Beyond these there is no limit in practice, and no sum of them overflows.
      connectionsPerAddress: min(max(1, connectionsPerAddress), 1_000),
      callsPerConnection: min(max(1, callsPerConnection), 1_000_000),
      waitingCalls: max(0, waitingCalls),
      waitingTime: waitingTime)
  }

  var connection: RPCLimits {
    RPCLimits(streamReadBuffer: streamReadBuffer)
  }
}
