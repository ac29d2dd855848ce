/// Why a pool gives no results for a batch. Repeating the batch is always safe.
package enum PoolError: Error, Hashable, Sendable {
  /// Too much is waiting: the caller should try again later.
  case full
  /// The deadline passed before work on all of the batch had begun.
  case deadlineExceeded
  /// The caller gave the batch up.
  case cancelled
  /// The pool is stopping: it takes nothing new, or had no time left for all of the batch.
  case shutdown
}
