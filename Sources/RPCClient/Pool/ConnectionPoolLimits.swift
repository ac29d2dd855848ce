/// The limits of a pool.
struct ConnectionPoolLimits: Hashable, Sendable {
  /// Connections to one server. A server handles each connection on one core.
  var connectionsPerAddress: Int
  /// Calls in flight on one connection.
  var callsPerConnection: Int
  /// Calls that may wait for a connection or for capacity on one. Bounds the memory of waiting
  /// calls.
  var waitingCalls: Int
  /// The longest wait of a call. By default it covers the restart of a server, and ends early
  /// enough for a caller with a fallback.
  var waitingTime: Duration
  /// Another connection is opened when the least busy one has this many calls in flight. Below
  /// that, one connection is cheaper: its calls share system calls.
  var busyCalls = 16
  /// A connection counts as dead after this many deadlines in a row that passed without an answer.
  var silentCalls = 3
  /// A connection counts as dead after this many cancelled calls without an answer in between, once
  /// ``givenUpTime`` has passed too. It bounds the memory of unsent requests to a server that does
  /// not read.
  var givenUpCalls = 100
  /// The time with calls in flight and without an answer that ``givenUpCalls`` also requires. Calls
  /// that are cancelled sooner are no sign of a dead server.
  var givenUpTime: Duration = .seconds(1)
}
