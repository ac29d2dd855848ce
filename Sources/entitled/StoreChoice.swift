import PostgresStore
import SQLiteStore

/// The database of the server.
enum StoreChoice: Sendable, CustomStringConvertible {
  case sqlite(SQLiteFile)
  case postgres(PostgresStoreConfiguration)

  /// Parses `sqlite:PATH` or a connection URI of PostgreSQL. Nil if the text is neither.
  init?(parsing text: String) {
    let scheme = "sqlite:"
    if text.hasPrefix(scheme), text.count > scheme.count {
      self = .sqlite(SQLiteFile(path: String(text.dropFirst(scheme.count))))
    } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
      self = .postgres(PostgresStoreConfiguration(connection: text))
    } else {
      return nil
    }
  }

  var isPostgres: Bool {
    if case .postgres = self { true } else { false }
  }

  /// The number of concurrent read batches that the store can use.
  var readPermits: Int {
    switch self {
    case .sqlite: SQLiteStoreLimits().maximumReaders
    case .postgres(let configuration): configuration.limits.readsInFlight
    }
  }

  /// The location of the database for messages, without passwords.
  var location: String {
    switch self {
    case .sqlite(let file): file.path
    case .postgres(let configuration): configuration.description
    }
  }

  /// The setting's value, without passwords.
  var description: String {
    switch self {
    case .sqlite(let file): "sqlite:\(file.path)"
    case .postgres(let configuration): configuration.description
    }
  }

  /// The settings that only such a database has, without passwords.
  var settings: [(SettingKey, String)] {
    switch self {
    case .sqlite(let file):
      return [
        (.create, String(file.creates)),
        (.storeCheckSeconds, String(file.checkTime.components.seconds)),
      ]
    case .postgres(let configuration):
      let replicas = configuration.replicas.map {
        PostgresStoreConfiguration(connection: $0).description
      }
      return [
        (.storeReplicas, replicas.isEmpty ? "none" : replicas.joined(separator: ", ")),
        (.storeReaders, String(configuration.limits.readingConnections)),
        (.storeWriters, String(configuration.limits.writingConnections)),
      ]
    }
  }
}

/// The settings of an SQLite database.
struct SQLiteFile: Sendable {
  var path: String
  /// Whether a missing or empty file becomes a new database.
  var creates = false
  /// How long the check at the start may take; zero: none.
  var checkTime = SQLiteStoreLimits().checkTime
}
