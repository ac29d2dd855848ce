/// What the embedded store allows itself, each with its reason.
package struct SQLiteStoreLimits: Hashable, Sendable {
  /// Writes waiting for their turn. More are refused at once, so that a slow disk is felt by
  /// callers rather than by memory.
  package var maximumWaitingCommits = 4_096

  /// Writes that share one SQLite transaction. Bounds how long the first of them waits for
  /// the last; beyond some dozens the cost of the disk's flush is shared well enough.
  package var maximumCommitsPerTransaction = 128

  /// Reads under way or waiting for a connection.
  package var maximumWaitingReads = 4_096

  /// Connections that read at the same time. A read is short and seldom waits for the disk.
  package var maximumReaders = 4

  /// Size that the database file may grow to, in bytes; nil leaves it to the disk. A commit that
  /// needs more fails with ``StoreError/Code/full``.
  package var maximumDatabaseBytes: Int64?

  /// What remains of the write-ahead log after a burst, in bytes.
  package var maximumIdleLogBytes: Int64 = 64 << 20

  /// How long a statement waits for a lock of SQLite, in seconds. Only tools that open the file
  /// beside the server, such as a backup, ever hold one.
  package var lockTimeoutSeconds = 5.0

  package init() {}
}
