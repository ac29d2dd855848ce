import ArgumentParser
import EntitlementStore
import PostgresStore
import Programs

struct DatabaseMigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Brings a database to the schema of this program.",
    discussion: """
      Applies what is missing, each migration in a transaction of its own; done already when \
      nothing is. Two that run at once do not disturb each other. With --dry-run it only says what \
      it would apply. Exit code 2 when the database is of a newer program, 3 when it cannot be \
      reached.
      """)

  @Flag(help: "Only say what would be applied.")
  var dryRun = false

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let name = try database.display()
    StandardError.write(TerminalText.visible("\(dryRun ? "looking at" : "migrating") \(name)"))
    let connection = try database.connection()
    let status: SchemaStatus
    do throws(StoreError) {
      status = try await PostgresSchema.migrate(
        connection: connection, dryRun: dryRun, connectTimeout: database.connectTimeout,
        report: { StandardError.write(TerminalText.visible(DatabaseOutput.text(of: $0))) })
    } catch {
      throw database.failure(error)
    }
    try DatabaseOutput.write(status, to: output)
  }
}
