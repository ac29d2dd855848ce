import ArgumentParser
import Programs

/// The program `storesim`.
package enum Simulator {
  /// Reads the process's arguments, does what they say and exits: 0 done, 1 failed, 2 refused, 3
  /// server unreachable, 4 not authorised, 64 wrong usage.
  package static func main() async -> Never {
    await SimulatorCommand.runAndExit { StandardError.write("Error: \($0)") }
  }
}

struct SimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "storesim",
    abstract: "An App Store in a box, for tests, demonstrations and load.",
    discussion: """
      It signs what the App Store would sign, with roots of its own. A server accepts it only \
      when they are named there, with --trust-root.

      Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 \
      failed, 2 refused by the server, 3 server unreachable, 4 not authorised, 64 wrong usage.
      """,
    version: ProgramVersion.line(of: "storesim"),
    subcommands: [
      AuthorityCommand.self, CatalogCommand.self, LifeCyclesCommand.self, ReceiptCommand.self,
      SignCommand.self, SubmitCommand.self,
    ])
}
