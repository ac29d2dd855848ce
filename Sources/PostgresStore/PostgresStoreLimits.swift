/// What the PostgreSQL store allows itself, each with its reason.
package struct PostgresStoreLimits: Hashable, Sendable {
  /// Connections that read, of each pool. Many reads are under way on each at once, so that few
  /// connections keep a server busy.
  package var readingConnections = 4

  /// Connections that write, each one transaction at a time. While one waits for the disk, another
  /// works; more of them would make smaller batches.
  package var writingConnections = 4

  /// Writes waiting for their turn. More are refused at once, so that a slow database is felt by
  /// callers rather than by memory.
  package var maximumWaitingCommits = 4_096

  /// Reads under way or waiting for a connection.
  package var maximumWaitingReads = 4_096

  /// Reads of accounts that share one statement. Bounds how long the first waits for the last.
  package var maximumReadsPerStatement = 16

  /// Writes that share one transaction. Bounds how long the first waits for the last.
  package var maximumCommitsPerTransaction = 128

  /// Writes that have to wait before a third or further connection takes some of them: those that the
  /// first two take together cost less each.
  package var minimumWaitingForFurtherLane = 16

  /// How long one of fewer waits for the first two connections before a further one takes it: by
  /// then these may well be stuck, at locks that somebody else holds.
  package var maximumWaitForSharing: Duration = .milliseconds(250)

  /// Locks of the rows that the writes of one transaction name. With its default settings a server
  /// can hold 6,400 locks, of which each transaction needs some 250 more for its tables. Writes that
  /// find no room share no transaction for once.
  package var maximumLocksPerTransaction = 512

  /// Rows of an app and environment that a transaction locks one by one; more, such as all that a
  /// very large account owns, and it keeps all other writers of that app and environment waiting
  /// instead. Some such transactions have to find room in the server at once.
  package var maximumLockedRows = 1_024

  /// Bytes of payloads and documents that share one transaction.
  package var maximumBytesPerTransaction = 8 << 20

  /// How long a read may take, with its wait for a connection.
  package var readTimeLimit: Duration = .seconds(10)

  /// How long one round trip of a write may take, with its wait for locks and for the disk. A write
  /// that met a lock of somebody else's is tried again until it is as old as this.
  package var writeTimeLimit: Duration = .seconds(20)

  /// How long each lock of somebody else's is waited for, before others have their turn.
  package var lockTimeLimit: Duration = .seconds(5)

  /// How long a write that met such a lock, or shared a transaction with one that did, waits for it in
  /// its next turn; in each further one twice as long, up to ``lockTimeLimit``.
  package var firstLockWait: Duration = .milliseconds(100)

  /// How often a transaction is begun again after a deadlock, a serialisation failure,
  /// a lock that was not foreseen and not free, or a connection that was lost before the commit was
  /// sent.
  package var maximumAttempts = 8

  /// How long to look for the outcome of a commit whose connection was lost. A failover should fit.
  package var resolutionTimeLimit: Duration = .seconds(30)

  /// Headers whose numbers are kept in memory. Apple has a few signers at a time.
  package var maximumHeldHeaders = 1_024

  package init() {}
}
