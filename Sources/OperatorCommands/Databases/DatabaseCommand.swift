import ArgumentParser

struct DatabaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "database", abstract: "The tables of a PostgreSQL database.",
    discussion: """
      These commands talk to the database itself, not to a server. An SQLite file needs none of \
      them: the server migrates it at its start.
      """,
    subcommands: [DatabaseStatusCommand.self, DatabaseMigrateCommand.self])
}
