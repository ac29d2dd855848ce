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
      The database: postgresql://USER@HOST/NAME. Default: the environment's ENTITLE_STORE. A \
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
    _ = try connection()
  }

  /// A connection string of libpq.
  ///
  /// - Throws: `ValidationError`. It never contains the given text, which may contain a password.
  func connection() throws -> String {
    let variable = "ENTITLE_STORE"
    let source = database == nil ? variable : "--database"
    if let database,
      let refusal = ConnectionArgument.refusal(
        of: database, as: source, alternative: "in \(variable) in the environment")
    {
      throw ValidationError(refusal)
    }
    guard let text = database ?? ProcessInfo.processInfo.environment[variable] else {
      throw ValidationError("--database is needed, or \(variable) in the environment")
    }
    if text.hasPrefix("sqlite:") {
      throw ValidationError(
        "\(source) names an SQLite file: the server migrates it at its start, and it has no status")
    }
    guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
      throw ValidationError("\(source) is not postgresql://USER@HOST/NAME")
    }
    return text
  }

  /// Human-readable, without the password.
  func display() throws -> String {
    PostgresStoreConfiguration(connection: try connection()).description
  }

  /// Converts a store error to the failure of the command.
  func failure(_ error: StoreError) -> CommandFailure {
    let reason: CommandFailure.Reason =
      switch error.code {
      case .unavailable: .unreachable
      case .newerSchema, .olderSchema, .locked: .refused
      case .full, .missing, .cursorExpired, .corrupt, .closed, .internalFault: .failed
      }
    return CommandFailure(reason, error.message)
  }
}
