import ArgumentParser
import Glibc

/// The program `storesim`.
package enum Simulator {
  /// Reads the process's arguments, does what they say and exits: 0 done, 1 failed, 2 refused, 3
  /// server unreachable, 4 not authorised, 64 wrong usage.
  package static func main() async {
    // Whoever reads the output may have seen enough: that is an error of the write.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try SimulatorCommand.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as OutputError where error.isReaderGone {
      SimulatorCommand.exit(withError: ExitCode.failure)
    } catch {
      SimulatorCommand.exit(withError: error)
    }
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
    subcommands: [
      AuthorityCommand.self, CatalogCommand.self, LifeCyclesCommand.self, ReceiptCommand.self,
      SignCommand.self, SubmitCommand.self,
    ])
}
