package import ArgumentParser
import Programs
import RPCClient
import Wire

/// The root command of `entitlectl`, the operator's command line.
package struct EntitleControl: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "entitlectl",
    abstract: "Queries and operates an entitlement server, and inspects data that Apple signed.",
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
    await runAndExit { CommandFailure.printMessage($0) }
  }
}

struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract:
      "Shows whether the server is serving, its version, and what is unsafe in its settings.",
    discussion: """
      Exit code 0 when it is serving, 1 when it is not, 3 when it cannot be reached.
      """)

  @Option(help: "Full name of one service. Default: the whole server.")
  var service: String = ""

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// Text for a terminal: one line, and one for each warning.
  static func text(of response: HealthCheckResponse) -> String {
    let version = response.version.map { ", version \(TerminalText.escaped($0))" } ?? ""
    let warnings = response.warnings.map { "warning: \(TerminalText.escaped($0))" }
    return ([wireName(response.status) + version] + warnings).joined(separator: "\n")
  }

  func run() async throws {
    let response = try await server.withClient { try await $0.health(of: service) }
    try output.write(response, table: Self.text)
    guard response.status == .serving else {
      throw CommandFailure(.failed, "the server is not serving")
    }
  }
}

struct StatisticsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics",
    abstract: "Shows the server's counters since its start, and its version.",
    discussion: "deploy/docs/operations.md describes the counters.")

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient { try await $0.statistics() }
    try output.write(response, table: Self.table)
  }

  static func table(of response: GetStatisticsResponse) -> String {
    var table = TextTable(header: ["NAME", "VALUE"])
    if let version = response.version { table.add(["version", version]) }
    for counter in response.counters { table.add([counter.name, "\(counter.value)"]) }
    return table.text
  }
}
