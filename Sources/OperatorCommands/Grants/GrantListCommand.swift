import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct GrantListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Every grant of an account, withdrawn ones too, oldest first.")

  @Option(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = ListGrantsRequest(scope: app.scope, accountID: AccountID(account))
    let grants = try await server.withClient { try await $0.grants(request).grants }
    try output.write(grants, table: GrantOutput.table)
  }
}
