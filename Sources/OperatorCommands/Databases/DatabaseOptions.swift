import ArgumentParser
import EntitlementStore
import Foundation
import PostgresStore
import Programs

/// The database to connect to. Its password is never printed.
struct DatabaseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The database: postgresql://USER@HOST/NAME, or sqlite:PATH where the command can use a \
      file. Default: the environment's ENTITLE_STORE. A \
      password is refused here: use ENTITLE_STORE, PGPASSFILE or passfile= in the URI.
      """, valueName: "url"))
  var database: String?

  @Option(help: "Timeout of the connection to the database, in seconds.")
  var timeout = PostgresSchema.defaultConnectTimeout / .seconds(1)

  var connectTimeout: Duration { .seconds(timeout) }

  func validate() throws {
    guard timeout > 0, timeout <= 86_400 else {
      throw ValidationError("--timeout is more than 0 and at most 86400 seconds")
    }
    _ = try choice()
  }

  /// The kinds of database.
  enum Choice {
    /// The path of a file.
    case sqlite(String)
    /// A connection string of libpq.
    case postgres(String)
  }

  private static let variable = "ENTITLE_STORE"
  private static let fileScheme = "sqlite:"
  private var source: String { database == nil ? Self.variable : "--database" }

  /// - Throws: `ValidationError`. It never contains the given text, which may contain a password.
  func choice() throws -> Choice {
    let variable = Self.variable
    if let database,
      let refusal = ConnectionArgument.refusal(
        of: database, as: source, alternative: "in \(variable) in the environment")
    {
      throw ValidationError(refusal)
    }
    guard let text = database ?? ProcessInfo.processInfo.environment[variable] else {
      throw ValidationError("--database is needed, or \(variable) in the environment")
    }
    if text.hasPrefix(Self.fileScheme), text.count > Self.fileScheme.count {
      return .sqlite(String(text.dropFirst(Self.fileScheme.count)))
    }
    guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
      throw ValidationError("\(source) is not postgresql://USER@HOST/NAME")
    }
    return .postgres(text)
  }

  /// The connection string, for a command that is of no use for files.
  ///
  /// - Throws: as ``choice()``.
  func connection() throws -> String {
    guard case .postgres(let connection) = try choice() else {
      throw ValidationError("\(source) names an SQLite file: the server migrates it at its start")
    }
    return connection
  }

  /// Human-readable, without the password.
  func display() throws -> String {
    switch try choice() {
    case .sqlite(let path): Self.fileScheme + path
    case .postgres(let connection): PostgresStoreConfiguration(connection: connection).description
    }
  }

  /// Converts a store error to the failure of the command.
  func failure(_ error: StoreError) -> CommandFailure {
    let reason: CommandFailure.Reason =
      switch error.code {
      case .unavailable: .unreachable
      case .newerSchema, .olderSchema, .locked, .missing: .refused
      case .full, .cursorExpired, .corrupt, .closed, .internalFault: .failed
      }
    guard case .sqlite? = try? choice(), let name = try? display() else {
      return CommandFailure(reason, error.message)
    }
    return CommandFailure(reason, "\(TerminalText.escaped(name)): \(error.message)")
  }
}
