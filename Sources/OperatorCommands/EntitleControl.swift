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
      OfferCommand.self,
      SubmitCommand.self, NotificationCommand.self, ReceiptCommand.self, ImportCommand.self,
      ChangeCommand.self,
      WatchCommand.self, JobCommand.self, ReconcileCommand.self, AppStoreCommand.self,
      ConsumptionCommand.self,
      CatalogCommand.self,
      AuditCommand.self, StatisticsCommand.self,
      HealthCommand.self, ContextCommand.self, WhoAmICommand.self, CredentialsCommand.self,
      TokenCommand.self, DatabaseCommand.self, VerifyCommand.self,
      InspectCommand.self,
      ScenarioCommand.self,
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
    abstract: "Shows whether the server is serving, and which server it is.",
    discussion: """
      Shows its version, node, kind of store, the digest of its catalog, and warnings about its \
      settings, to a caller that may see them: health itself needs no token. A server that follows \
      a development clock shows its virtual time. Exit code 0 when it is serving, 1 when it is not, \
      3 when it cannot be reached.
      """)

  @Option(help: "Full name of one service. Default: the whole server.")
  var service: String = ""

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// A health check and the server that answered it.
  struct Answer {
    let health: HealthCheckResponse
    /// Nil for a server that does not know the method, and for a caller that may not call it.
    let server: GetServerResponse?

    /// The members of the health check, and a member `server`.
    var document: JSONValue {
      get throws {
        let document = try JSONValue(health)
        guard let server, case .object(var members) = document else { return document }
        members["server"] = try JSONValue(server)
        return .object(members)
      }
    }

    /// Text for a terminal: a line with the status, then one for each property of the server.
    var text: String {
      let status = wireName(health.status)
      var lines = [status]
      if let version = health.version {
        lines[0] += ", version \(TerminalText.escaped(version))"
      }
      if let moment = health.developmentClock {
        lines.append(StateTable.line("virtual time", moment.display))
      }
      guard let server else { return lines.joined(separator: "\n") }
      lines.append(StateTable.line("node", server.nodeName))
      if let kind = server.storeKind { lines.append(StateTable.line("store", wireName(kind))) }
      if let digest = server.catalogDigest { lines.append(StateTable.line("catalog", digest)) }
      lines += server.warnings.map { StateTable.line("warning", $0) }
      return lines.joined(separator: "\n")
    }
  }

  func run() async throws {
    let answer = try await server.withClient { client in
      let health = try await client.health(of: service)
      // A probe without a proof does not ask for what it would be refused, and counted as refused.
      if health.needsCredentials, try !server.hasProof {
        return Answer(health: health, server: nil)
      }
      return Answer(health: health, server: try await Self.server(client))
    }
    try output.write(document: try answer.document) { _ in answer.text }
    guard answer.health.status == .serving else {
      throw CommandFailure(.failed, "the server is not serving")
    }
  }

  private static func server(
    _ client: EntitlementClient
  ) async throws(RPCClientError) -> GetServerResponse? {
    do {
      return try await client.server()
    } catch {
      // Health needs no permission. What else is shown of the server does.
      switch error.code {
      case .status(.unimplemented), .status(.unauthenticated), .status(.permissionDenied):
        return nil
      default: throw error
      }
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
