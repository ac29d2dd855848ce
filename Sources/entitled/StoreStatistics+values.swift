import EntitlementService
import PostgresStore
import SQLiteStore

extension PostgresStatistics {
  /// The counters with the names under which GetStatistics returns them.
  var values: [StatisticValue] {
    [
      StatisticValue("store.reading_connections", readingConnections),
      StatisticValue("store.replica_connections", replicaConnections),
      StatisticValue("store.writing_connections", writingConnections),
      StatisticValue("store.writing_connections_in_use", writingConnectionsInUse),
      StatisticValue("store.reading_connections_limit", readingConnectionsLimit),
      StatisticValue("store.writing_connections_limit", writingConnectionsLimit),
      StatisticValue("store.pending_writes", pendingWrites),
      StatisticValue("store.pending_writes_limit", pendingWritesLimit),
      StatisticValue("store.waiting_reads_limit", waitingReadsLimit),
      StatisticValue("store.reads_in_flight", readsInFlight),
      StatisticValue("store.waiting_reads", waitingReads),
      StatisticValue("store.exchanges", exchanges),
      StatisticValue("store.connects", connects),
      StatisticValue("store.failed_connects", failedConnects),
      StatisticValue("store.lost_connections", lostConnections),
      StatisticValue("store.timeouts", timeouts),
      StatisticValue("store.wait_timeouts", waitTimeouts),
      StatisticValue("store.batches", batches),
      StatisticValue("store.commits", commits),
      StatisticValue("store.retries", retries),
      StatisticValue("store.resolved_commits", resolvedCommits),
      StatisticValue("store.replica_reads", replicaReads),
      StatisticValue("store.passed_replicas", replicaFallbacks),
    ]
  }
}

extension SQLiteStatistics {
  var values: [StatisticValue] {
    [
      StatisticValue("store.pending_writes", pendingWrites),
      StatisticValue("store.pending_writes_limit", pendingWritesLimit),
      StatisticValue("store.pending_reads", pendingReads),
      StatisticValue("store.pending_reads_limit", pendingReadsLimit),
    ]
  }
}
