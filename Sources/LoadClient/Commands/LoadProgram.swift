package import ArgumentParser
import Programs

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
    version: ProgramVersion.line(of: "entitle-load"),
    subcommands: [RunCommand.self, PrepareCommand.self], defaultSubcommand: RunCommand.self)

  package init() {}

  /// Runs the command line and ends the process with its exit code.
  package static func runAndExit() async -> Never {
    await runAndExit { StandardError.write("entitle-load: \($0)") }
  }
}
