import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct CustomerHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "What happened to an account, oldest first.",
    discussion: """
      What it got and lost, what operators gave it, and what Apple notified of its chains: the \
      latest 10,000 entries at most. Of an account that was merged into another, the history is \
      the other's. Exit code 2 when nothing is known of the account.
      """)

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = GetCustomerHistoryRequest(scope: app.scope, accountID: AccountID(account))
    let history = try await server.withClient { try await $0.customerHistory(request) }
    MergedName.tell(of: account, answeredBy: history.accountID, "its history")
    try output.write(history) { CustomerHistoryTable.text(of: $0.entries) }
  }
}
