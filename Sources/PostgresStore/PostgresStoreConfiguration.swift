/// The location and the limits of a PostgreSQL store.
package struct PostgresStoreConfiguration: Sendable, CustomStringConvertible {
  /// A URI or keyword string of libpq. With several hosts, the one that accepts writes is used.
  package var connection: String
  /// Connection strings of standbys for reads. If empty, all reads go to the primary.
  package var replicas: [String]
  package var limits: PostgresStoreLimits

  package init(
    connection: String, replicas: [String] = [],
    limits: PostgresStoreLimits = PostgresStoreLimits()
  ) {
    self.connection = connection
    self.replicas = replicas
    self.limits = limits
  }

  /// Scheme, user, hosts and database, without the password.
  package var description: String {
    do throws(PostgresFailure) {
      return try PostgresConnectionString(connection).description
    } catch {
      return "postgresql: (malformed connection string)"
    }
  }
}

/// Limits of the PostgreSQL store.
package struct PostgresStoreLimits: Hashable, Sendable {
  /// Connections for reads, of each pool. Reads are pipelined, so few connections keep a server
  /// busy.
  package var readingConnections = 4

  /// Writers, each with one connection and one transaction at a time. While one waits for the disk,
  /// another works. More writers make smaller batches: with 4 writers and 64 writes in flight, a
  /// write took 364 µs of the database's processor time, with 2 writers about 260 µs.
  package var writingConnections = 2

  /// Writes waiting for a transaction. Further writes are refused at once, so that a slow database
  /// leads to errors for callers and not to growing memory. One source has at most half of it
  /// (``SourceShares``).
  package var maximumWaitingCommits = 4_096

  /// Exchanges waiting for a reading connection. Reads of customers never wait here, because their
  /// callers bound the batches in flight (``readsInFlight``).
  package var maximumWaitingReads = 4_096

  /// Writes that share one transaction. Bounds how long the first write waits for the last.
  package var maximumCommitsPerTransaction = 128

  /// Row locks of the writes that share one transaction. With default settings a server has room
  /// for 6,400 locks, and each transaction needs about 250 more for its tables. A batch ends before
  /// a write that would exceed the limit; a single write may exceed it.
  package var maximumLocksPerTransaction = 512

  /// Rows of one app and environment that a transaction locks individually. Above the limit, as for
  /// the rows of a very large account, it locks the app and environment exclusively, which blocks
  /// all other writers there. Several such transactions must fit into the server's lock table at
  /// once.
  package var maximumLockedRows = 1_024

  /// Bytes of payloads and documents in one transaction.
  package var maximumBytesPerTransaction = 8 << 20

  /// Time limit of a read, including the wait for a connection.
  package var readTimeLimit: Duration = .seconds(10)

  /// Time limit of a write, from the beginning of its call to its answer. A caller's deadline may be
  /// earlier. A write is not started after it, and is answered then even if its outcome is not known
  /// yet: see ``WriteQueue``.
  package var writeTimeLimit: Duration = .seconds(20)

  /// Time limit of one round trip of a write, including waits for locks and for the disk. Half of
  /// ``writeTimeLimit``, so that the other half is left to repeat the transaction, or to learn the
  /// fate of its commit, on another connection. The deadlines of callers do not shorten it: a slow
  /// database would lose a connection for each of them.
  package var exchangeTimeLimit: Duration = .seconds(10)

  /// Time limit of a health probe, which includes making its connection. Two probes in a row decide,
  /// so that health follows the database within 5 seconds.
  package var probeTimeLimit: Duration = .milliseconds(1_500)

  /// Lock timeout for tables, which a schema change may hold, and for the lock of an app and
  /// environment in one attempt. Another write holds that lock exclusively when it changes a very
  /// large account; attempts are repeated for ``writeTimeLimit``.
  package var lockTimeLimit: Duration = .seconds(5)

  /// Lock timeout for each lock of a customer in a full batch. Other nodes hold these locks for
  /// some milliseconds, or for as long as a disk stalls. The other writes of the same writer wait
  /// meanwhile.
  package var rowLockTimeLimit: Duration = .seconds(1)

  /// Lock timeout for the halves of a split batch, and for a trial of the lock circuit breaker.
  package var briefLockTimeLimit: Duration = .milliseconds(5)

  /// Attempts of a transaction after a deadlock, a serialisation failure, an unforeseen lock that
  /// was not available, or a connection that was lost before the commit was sent.
  package var maximumAttempts = 8

  /// Time limit for resolving the outcome of a commit whose connection was lost. Allows for a
  /// failover. The callers are answered by their own deadlines meanwhile.
  package var resolutionTimeLimit: Duration = .seconds(30)

  /// Headers whose ids are cached. Apple uses a few signers at a time.
  package var maximumCachedHeaders = 1_024

  /// Batches of reads in flight that keep the store busy: one for each reading connection.
  package var readsInFlight: Int { max(1, readingConnections) }

  package init() {}
}
