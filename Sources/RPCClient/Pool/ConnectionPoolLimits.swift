/// The bounds of a pool, each with its reason.
struct ConnectionPoolLimits: Hashable, Sendable {
  /// Connections to one server. A server handles each on one core.
  var connectionsPerAddress: Int
  /// Calls in flight on one connection.
  var callsPerConnection: Int
  /// Calls that may wait for a connection, or for room on one. Bounds the memory of what waits.
  var waitingCalls: Int
  /// How long one may wait: as long as a server takes to start again, and no longer than somebody
  /// waits who has other ways to answer.
  var waitingTime: Duration
  /// Calls in flight on the least busy connection at which another one is made. Fewer share their
  /// system calls better on one.
  var busyCalls = 16
  /// Deadlines in a row that pass without any answer before a connection counts as dead.
  var silentCalls = 3
  /// Calls in a row that are given up by their callers, without any answer in between, before a
  /// connection counts as dead. Nothing else bounds what is kept of them: a server that reads
  /// nothing leaves their requests here.
  var givenUpCalls = 100
  /// For how long there was no answer as well, while calls were in flight: callers that give up at once
  /// say nothing of a server that had no time to answer. A server that works has answered something
  /// by then.
  var givenUpTime: Duration = .seconds(1)
}
