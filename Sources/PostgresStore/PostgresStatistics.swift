/// What a PostgreSQL store is doing, and has done since it was opened.
package struct PostgresStatistics: Hashable, Sendable {
  /// Connections to the primary that many reads share, and to replicas.
  package var readingConnections = 0
  package var replicaConnections = 0
  /// Connections for transactions, and how many of them somebody has.
  package var writingConnections = 0
  package var writingConnectionsInUse = 0
  /// Reads on their way, and those that wait for a place.
  package var readsInFlight = 0
  package var waitingReads = 0
  /// Reads that the primary answered: those that share a statement count once.
  package var exchanges = 0
  /// Connections that were made, those that could not be, and those that were lost.
  package var connects = 0
  package var failedConnects = 0
  package var lostConnections = 0
  /// Calls whose time was up: when they were sent, and before there was a connection for them.
  package var timeouts = 0
  package var waitTimeouts = 0
  /// Transactions that wrote for callers, and the writes that they held.
  package var batches = 0
  package var commits = 0
  /// Transactions that were begun again.
  package var retries = 0
  /// Commits whose connection was lost, and whose outcome was found out.
  package var resolvedCommits = 0
  /// Reads that a replica answered, and those that the primary had to since none was new enough.
  package var replicaReads = 0
  package var passedReplicas = 0

  package init() {}
}
