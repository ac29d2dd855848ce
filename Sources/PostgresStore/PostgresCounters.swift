import Synchronization

/// What the store has done since it was opened.
final class PostgresCounters: Sendable {
  let batches = Atomic(0)
  let jobs = Atomic(0)
  let retries = Atomic(0)
  let resolvedCommits = Atomic(0)
  let replicaReads = Atomic(0)
  let passedReplicas = Atomic(0)
}
