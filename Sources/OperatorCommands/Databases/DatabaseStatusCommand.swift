import ArgumentParser
import EntitlementStore
import PostgresStore

struct DatabaseStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Which migrations a database has.",
    discussion: """
      Changes nothing. Exit code 0 when the database fits this program, 1 when it has to be \
      migrated, 2 when it is of a newer program, 3 when it cannot be reached.
      """)

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let connection = try database.connection()
    let status: SchemaStatus
    do throws(StoreError) {
      status = try await PostgresSchema.status(
        connection: connection, connectTimeout: database.connectTimeout)
    } catch {
      throw database.failure(error)
    }
    try DatabaseOutput.write(status, to: output)
    if let failure = DatabaseOutput.failure(of: status) { throw failure }
  }
}
