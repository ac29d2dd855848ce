package import ArgumentParser
import Programs

/// `entitlectl`: everything an operator does from a terminal.
package struct EntitleControl: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "entitlectl",
    abstract: "Asks and feeds an entitlement server, and looks at what Apple signed.",
    discussion: """
      Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 refused or \
      not found, 3 server unreachable, 4 not authorised, 64 usage.
      """,
    version: ProgramVersion.line(of: "entitlectl"),
    subcommands: [
      CustomerCommand.self, LinkCommand.self, ChainCommand.self, GrantCommand.self,
      SubmitCommand.self, NotificationCommand.self, ReceiptCommand.self, ChangeCommand.self,
      WatchCommand.self, CatalogCommand.self, StatisticsCommand.self, HealthCommand.self,
      DatabaseCommand.self, VerifyCommand.self, InspectCommand.self, ScenarioCommand.self,
    ])

  package init() {}

  /// Runs the command line and ends the process with its exit code.
  package static func runAndExit() async -> Never {
    await runAndExit { CommandFailure.tell($0) }
  }
}
