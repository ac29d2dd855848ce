/// Everything that a pool bounds.
struct PostgresPoolLimits: Sendable {
  /// Connections that many callers' reads share.
  var readingConnections = 4
  /// Flights on their way on one reading connection: while the server works on one, the next is
  /// there already. More would wait in the server instead of here, where they can still be withdrawn.
  var pipelineDepth = 2
  /// Reads that share a flight. One that fails has those after it sent again.
  var readsPerFlight = 16
  /// Connections that one caller has to itself, for transactions.
  var sessions = 4
  /// Reads that wait for a place; more are turned away at once.
  var waitingReads = 8_192
  /// Callers that wait for a session; more are turned away at once.
  var waitingSessions = 1_024
  /// Connections that are being made at once: each may block a thread for
  /// ``connectTimeout``.
  var simultaneousConnects = 4
  /// For each address of each host, unless the connection string says otherwise. At least two
  /// seconds, which is libpq's own minimum.
  var connectTimeout = Duration.seconds(5)
  /// After this long the server itself ends a statement.
  var statementTimeout = Duration.seconds(10)
  /// After this long the server gives up waiting for a lock.
  var lockTimeout = Duration.seconds(5)
  /// After this long the server ends a transaction whose client is silent, so that its locks go.
  var idleTransactionTimeout = Duration.seconds(10)
  /// After this long without an acknowledgement the kernel gives a TCP connection up.
  var tcpUserTimeout = Duration.seconds(10)
  /// A connection that is older is replaced when it is idle; nil: never. It lets a load balancer
  /// spread connections anew.
  var maximumAge: Duration?
  /// The wait after the first failure to connect is below this; it doubles with each further one.
  var firstBackoff = Duration.milliseconds(50)
  /// No wait between attempts is longer.
  var longestBackoff = Duration.seconds(5)
  /// How long a session that comes back amid a transaction may take to roll back.
  var rollbackTimeout = Duration.seconds(2)
  /// How long ``PostgresPool/close()`` waits for those who are busy.
  var closeTimeout = Duration.seconds(5)
  /// How long a listening connection may be silent before it is asked whether it lives.
  var keepaliveInterval = Duration.seconds(10)
  /// How long `LISTEN`, `NOTIFY` and the question whether it lives may take.
  var listenerTimeout = Duration.seconds(5)
}
