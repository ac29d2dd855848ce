/// What a pool is doing, and has done since it began.
struct PostgresPoolStatistics: Hashable, Sendable {
  var readingConnections = 0
  var sessions = 0
  /// Sessions that somebody has.
  var sessionsInUse = 0
  /// Reads that are on their way.
  var readsInFlight = 0
  var waitingReads = 0
  var waitingSessions = 0

  /// Reads that were answered, by rows or by a refusal of the server.
  var exchanges = 0
  /// Connections that were made.
  var connects = 0
  var failedConnects = 0
  /// Connections that ended without this program's will.
  var lostConnections = 0
  /// Exchanges whose time was up when they had been sent.
  var timeouts = 0
  /// Calls whose time was up before there was a connection for them.
  var waitTimeouts = 0
  /// Calls that were turned away as too many waited.
  var turnedAway = 0
  /// Reads that were sent again on another connection.
  var retriedReads = 0
}
