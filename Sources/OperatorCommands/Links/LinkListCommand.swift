import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct LinkListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "What an account owns.",
    discussion: "An account that was merged into another is that other one.")

  @Option(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = ListLinksRequest(scope: app.scope, accountID: AccountID(account))
    let links = try await server.withClient { try await $0.links(request).links }
    try output.write(links, table: LinkTable.links)
  }
}
