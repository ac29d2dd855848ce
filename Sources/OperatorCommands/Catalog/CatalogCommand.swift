import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct CatalogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog", abstract: "Checks, shows and reloads catalogs.",
    subcommands: [
      CatalogCheckCommand.self, CatalogStatusCommand.self, CatalogReloadCommand.self,
    ])
}

struct CatalogStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the catalog in force and the last attempt to reload it.")

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient { try await $0.catalog() }
    try output.write(response, table: CatalogText.text)
  }
}

struct CatalogReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Makes the server reload its catalog file.",
    discussion: """
      A valid file is in force when the command ends. Exit code 2 when the file is not valid, 1 \
      when the server cannot read it: the old catalog stays in force.
      """)

  @Flag(help: "Only check the file.")
  var dryRun = false

  @OptionGroup var onBehalfOf: OnBehalfOfOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = ReloadCatalogRequest(isDryRun: dryRun, onBehalfOf: onBehalfOf.name)
    let response = try await server.withClient { try await $0.reloadCatalog(request) }
    try output.write(response, table: CatalogText.text)
    guard let attempt = response.lastAttempt else {
      throw CommandFailure(.failed, "the server did not report the result")
    }
    if attempt.isValid { return }
    throw attempt.failure == nil
      ? CommandFailure(.refused, "the file is not valid; the old catalog stays in force")
      : CommandFailure(.failed, "the file cannot be read; the old catalog stays in force")
  }
}

/// The server's catalog as text for a terminal.
enum CatalogText {
  static func text(of response: CatalogResponse) -> String {
    var lines = [
      StateTable.line("digest", response.digest),
      StateTable.line("in force since", response.inForceSince.display),
      StateTable.line("apps", "\(response.appCount)"),
      StateTable.line("products", "\(response.productCount)"),
      StateTable.line("entitlements", "\(response.entitlementCount)"),
      StateTable.line("grandfathering", "\(response.grandfatheringRuleCount)"),
    ]
    lines += issues(response.warnings)
    if let attempt = response.lastAttempt {
      let verdict =
        attempt.failure.map { "not read: \($0)" } ?? (attempt.isValid ? "valid" : "not valid")
      lines += ["", StateTable.line("last attempt", "\(attempt.at.display), \(verdict)")]
      if let digest = attempt.digest { lines.append(StateTable.line("its digest", digest)) }
      // The issues of the catalog in force are listed above.
      if attempt.digest != response.digest { lines += issues(attempt.issues) }
    }
    return lines.joined(separator: "\n")
  }

  private static func issues(_ issues: [FileIssue]) -> [String] {
    issues.map { TerminalText.escaped($0.description) }
  }
}
