import PostgresStore
import SQLiteStore

/// Which database the server keeps its facts in.
enum StoreChoice: Sendable, CustomStringConvertible {
  case sqlite(path: String)
  case postgres(PostgresStoreConfiguration)

  /// Reads `sqlite:PATH` or a connection URI of PostgreSQL.
  ///
  /// - Returns: nil when it is neither.
  init?(parsing text: String) {
    let scheme = "sqlite:"
    if text.hasPrefix(scheme), text.count > scheme.count {
      self = .sqlite(path: String(text.dropFirst(scheme.count)))
    } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
      self = .postgres(PostgresStoreConfiguration(connection: text))
    } else {
      return nil
    }
  }

  var isPostgres: Bool {
    if case .postgres = self { true } else { false }
  }

  /// Batches of reads in flight that keep the store busy without a pause.
  var readPermits: Int {
    switch self {
    case .sqlite: SQLiteStoreLimits().maximumReaders
    case .postgres(let configuration): configuration.limits.readsInFlight
    }
  }

  /// Where the database is, for messages; never a password.
  var place: String {
    switch self {
    case .sqlite(let path): path
    case .postgres(let configuration): configuration.description
    }
  }

  /// As it was given, but without passwords.
  var description: String {
    switch self {
    case .sqlite(let path): "sqlite:\(path)"
    case .postgres(let configuration): configuration.description
    }
  }
}
