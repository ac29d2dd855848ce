import ArgumentParser
import EntitlementDomain
import EntitlementStore
import PostgresStore
import Programs
import SQLiteStore

struct DatabaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "database", abstract: "The schema and the compression of a database.",
    discussion: """
      These commands connect to the database, not to a server. An SQLite file is migrated by the \
      server at its start.
      """,
    subcommands: [
      DatabaseStatusCommand.self, DatabaseMigrateCommand.self,
      DatabaseTrainDictionaryCommand.self,
    ])
}

struct DatabaseStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract:
      "Lists the migrations of a database, its dictionaries, and how far payloads are converted.",
    discussion: """
      Changes nothing. Exit code 0 when the schema matches this program, 1 when it has to be \
      migrated or a migration has to go on, 2 when it is newer than this program, 3 when the database cannot be reached. \
      Servers convert payloads in the background, so the exit code does not depend on that. Of an \
      SQLite file there is no list of migrations; exit code 2 when it is not there or of another \
      version.
      """)

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let choice = try database.choice()
    // Nil for a file.
    var schema: SchemaStatus?
    let payloads: PayloadStorageStatus?
    do throws(StoreError) {
      switch choice {
      case .sqlite(let path): payloads = try SQLiteDictionaries.status(path: path)
      case .postgres(let connection):
        schema = try await PostgresSchema.status(
          connection: connection, connectTimeout: database.connectTimeout)
        payloads = try await PostgresDictionaries.status(
          connection: connection, connectTimeout: database.connectTimeout)
      }
    } catch {
      throw database.failure(error)
    }
    guard let status = schema else {
      if let payloads { try PayloadStorageOutput.write(payloads, to: output) }
      return
    }
    try DatabaseOutput.write(status, payloads, to: output) {
      DatabaseOutput.table(status) + (payloads.map { "\n" + PayloadStorageOutput.table($0) } ?? "")
    }
    if let failure = DatabaseOutput.failure(of: status) { throw failure }
  }
}

struct DatabaseMigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates a database to the schema of this program.",
    discussion: """
      Applies the missing migrations, each in its own transaction, then adds the versions of facts \
      inside stored notifications, in steps. Servers compress what is stored already in the \
      background, which `entitlectl database status` shows. Servers of the former version cannot write any more; \
      servers of this version can be started before the steps are done. An interrupted run goes on \
      where it ended. Does nothing when nothing is missing. Concurrent runs wait for each other. With --dry-run it only prints what it would \
      apply. Exit code 2 when the schema is newer than this program, 3 when the database cannot be \
      reached.
      """)

  @Flag(help: "Only print the migrations that would be applied.")
  var dryRun = false

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func validate() throws { _ = try database.connection() }

  func run() async throws {
    let name = try database.display()
    StandardError.write(TerminalText.escaped("\(dryRun ? "checking" : "migrating") \(name)"))
    let connection = try database.connection()
    var status: SchemaStatus
    let payloads: PayloadStorageStatus?
    do throws(StoreError) {
      status = try await PostgresSchema.migrate(
        connection: connection, dryRun: dryRun, connectTimeout: database.connectTimeout,
        report: { StandardError.write(TerminalText.escaped(DatabaseOutput.text(of: $0))) })
      if !dryRun {
        let began = ContinuousClock.now
        let count = try await PostgresSchema.addVersions(
          connection: connection,
          report: { StandardError.write(DatabaseOutput.progress(of: $0, since: began)) })
        if count > 0 {
          StandardError.write(DatabaseOutput.progress(of: count, since: began) + ": done")
        }
        status.lacksVersions = false
      }
      payloads = try await PostgresDictionaries.status(
        connection: connection, connectTimeout: database.connectTimeout)
    } catch {
      throw database.failure(error)
    }
    try DatabaseOutput.write(status, payloads, to: output) { DatabaseOutput.table(status) }
  }
}

/// Prints the schema version and the migrations of a database.
enum DatabaseOutput {
  /// The JSON form, a documented contract.
  private struct Document: Encodable {
    let version: Int
    let expectedVersion: Int
    let lacksVersions: Bool
    let migrations: [Migration]
    /// Absent when the schema is older than compressed payloads.
    let payloads: PayloadStorageOutput.Document?

    struct Migration: Encodable {
      let number: Int
      let name: String
      let appliedAtMs: String?
    }

    init(_ status: SchemaStatus, _ payloads: PayloadStorageStatus?) {
      self.payloads = payloads.map { PayloadStorageOutput.Document($0) }
      version = status.found
      expectedVersion = status.expected
      lacksVersions = status.lacksVersions
      migrations = status.migrations.map {
        Migration(number: $0.number, name: $0.name, appliedAtMs: $0.appliedAt.map { "\($0)" })
      }
    }
  }

  static func write(
    _ status: SchemaStatus, _ payloads: PayloadStorageStatus?, to output: OutputOptions,
    table: () -> String
  ) throws {
    try output.write(document: Document(status, payloads)) { _ in table() }
  }

  static func table(_ status: SchemaStatus) -> String {
    var table = TextTable(header: ["MIGRATION", "NAME", "APPLIED"])
    for migration in status.migrations {
      table.add([
        "\(migration.number)", migration.name, migration.appliedAt?.display ?? "-",
      ])
    }
    return table.text
  }

  static func text(of step: MigrationStep) -> String {
    switch step {
    case .waiting(let holder): "another migration is running, \(holder): waiting for it"
    case .applying(let number, let name): "applying \(number) \(name)"
    case .applied(let number, let name): "applied \(number) \(name)"
    case .wouldApply(let number, let name): "would apply \(number) \(name)"
    }
  }

  /// - Parameter began: when the first of them was begun.
  static func progress(of notifications: Int, since began: ContinuousClock.Instant) -> String {
    let seconds = max(0.001, began.duration(to: .now) / .seconds(1))
    return "added the versions of \(notifications) notifications, "
      + "\(Int(Double(notifications) / seconds)) a second"
  }

  /// Nil when the database has the schema version of this program.
  static func failure(of status: SchemaStatus) -> CommandFailure? {
    if status.found > status.expected {
      return CommandFailure(.refused, "the schema of the database is newer than this program")
    }
    if status.found < status.expected {
      return CommandFailure(.failed, "the database has to be migrated: entitlectl database migrate")
    }
    if status.lacksVersions {
      return CommandFailure(
        .failed, "versions of facts are still to be added: entitlectl database migrate")
    }
    return nil
  }
}
