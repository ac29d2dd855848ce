/// What the PostgreSQL store allows itself, each with its reason.
package struct PostgresStoreLimits: Hashable, Sendable {
  /// Connections that read, of each pool. Many reads are under way on each at once, so that few
  /// connections keep a server busy.
  package var readingConnections = 4

  /// Writers, each with a connection and one transaction at a time. While one waits for the disk, the
  /// other works. More of them make smaller batches: with 4 of them and 64 writes in flight, a write took
  /// the database 364 µs of processor time instead of some 260.
  package var writingConnections = 2

  /// Writes waiting for their turn. More are refused at once, so that a slow database is felt by
  /// callers rather than by memory.
  package var maximumWaitingCommits = 4_096

  /// Exchanges that wait for a reading connection. Reads of customers never do: their callers bound
  /// those in flight (``readsInFlight``).
  package var maximumWaitingReads = 4_096

  /// Writes that share one transaction. Bounds how long the first waits for the last.
  package var maximumCommitsPerTransaction = 128

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
  /// that is older is not begun.
  package var writeTimeLimit: Duration = .seconds(20)

  /// How long a write waits for the lock of a table, such as a change of the schema has. It is also how
  /// long one attempt waits for an app that another write has to itself, as the change of a very large
  /// account does; attempts go on for ``writeTimeLimit``.
  package var lockTimeLimit: Duration = .seconds(5)

  /// How long the writes that share a transaction wait for each lock of a customer: other nodes have
  /// those for some milliseconds, or while the disk stands still. All writes of the same writer wait
  /// meanwhile.
  package var rowLockTimeLimit: Duration = .seconds(1)

  /// How long the parts of a batch that was split wait for each lock, and a write that tries what was
  /// locked before.
  package var briefLockTimeLimit: Duration = .milliseconds(5)

  /// How often a transaction is begun again after a deadlock, a serialisation failure,
  /// a lock that was not foreseen and not free, or a connection that was lost before the commit was
  /// sent.
  package var maximumAttempts = 8

  /// How long to look for the outcome of a commit whose connection was lost. A failover should fit.
  package var resolutionTimeLimit: Duration = .seconds(30)

  /// Headers whose numbers are kept in memory. Apple has a few signers at a time.
  package var maximumHeldHeaders = 1_024

  /// Batches of reads in flight that keep the store busy: one for each reading connection.
  package var readsInFlight: Int { max(1, readingConnections) }

  package init() {}
}
