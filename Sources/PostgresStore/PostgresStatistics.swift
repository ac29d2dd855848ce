import Synchronization

/// Current state of a PostgreSQL store, and its counters since it was opened.
package struct PostgresStatistics: Hashable, Sendable {
  /// Connections to the primary and to replicas that concurrent reads share.
  package var readingConnections = 0
  package var replicaConnections = 0
  /// Connections for transactions, and the number in use.
  package var writingConnections = 0
  package var writingConnectionsInUse = 0
  /// How many of each kind there may be.
  package var readingConnectionsLimit = 0
  package var writingConnectionsLimit = 0
  /// Writes that wait or are in flight, and how many may be.
  package var pendingWrites = 0
  package var pendingWritesLimit = 0
  /// Reads in flight, and reads waiting for a connection.
  package var readsInFlight = 0
  package var waitingReads = 0
  package var waitingReadsLimit = 0
  /// Exchanges answered by the primary. Reads that share a statement count once.
  package var exchanges = 0
  /// Connections made, failed attempts to connect, and lost connections.
  package var connects = 0
  package var failedConnects = 0
  package var lostConnections = 0
  /// Calls that timed out after they were sent, and calls that timed out waiting for a connection.
  package var timeouts = 0
  package var waitTimeouts = 0
  /// Committed write transactions, and the writes in them.
  package var batches = 0
  package var commits = 0
  /// Transactions that were retried.
  package var retries = 0
  /// Commits whose connection was lost and whose outcome was resolved afterwards.
  package var resolvedCommits = 0
  /// Reads answered by a replica, and reads that fell back to the primary because no replica was
  /// new enough.
  package var replicaReads = 0
  package var replicaFallbacks = 0

  package init() {}
}

/// Counters since the store was opened.
final class PostgresCounters: Sendable {
  let batches = Atomic(0)
  let jobs = Atomic(0)
  let retries = Atomic(0)
  let resolvedCommits = Atomic(0)
  let replicaReads = Atomic(0)
  let replicaFallbacks = Atomic(0)
}
