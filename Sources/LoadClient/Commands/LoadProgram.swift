package import ArgumentParser
import Glibc
import Logging

/// `entitle-load`: puts a server under load, and measures and checks what it answers.
package struct LoadProgram: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "entitle-load",
    abstract: "Puts a server under load, and measures and checks what it answers.",
    discussion: """
      The customers are those of the simulated App Store: from a seed and a number, so that the \
      right answer about each is known. `prepare` fills a server or a database with them.

      The report goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, a wrong \
      answer or a --fail-if that is met, 64 usage, 69 server or database not reachable, 130 \
      interrupted, with a report of what was measured.
      """,
    subcommands: [RunCommand.self, PrepareCommand.self], defaultSubcommand: RunCommand.self)

  package init() {}

  /// Runs the command line and ends the process with its exit code.
  package static func runAndExit() async -> Never {
    // Whoever reads the output may have seen enough: that is an error of the write. So is a psql that
    // has ended.
    signal(SIGPIPE, SIG_IGN)
    // Libraries log for servers. A command tells by itself what its user has to know.
    LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      exit()
    } catch let failure as LoadFailure {
      if let message = failure.message { StandardError.write("entitle-load: \(message)") }
      exit(withError: ExitCode(failure.reason.rawValue))
    } catch {
      exit(withError: error)
    }
  }
}
