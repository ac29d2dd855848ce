import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkMergeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Gives everything of one account to another.",
    discussion: """
      Asks first; --yes answers for a script. It cannot be undone: from then on the first account's \
      id is another name of the second. Exit code 2 when nothing is known of the first.
      """)

  @Option(help: "The account that ends.")
  var from: String

  @Option(help: "The account that gets everything; it may be one of which nothing is known yet.")
  var into: String

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if from == into { throw ValidationError("--from and --into are the same account") }
  }

  func run() async throws {
    try confirmation.confirm(
      "Merge account \(from) of \(app.display) into account \(into), for good?")
    let request = MergeAccountsRequest(
      scope: app.scope, fromAccountID: AccountID(from), intoAccountID: AccountID(into),
      reason: audit.reason, author: audit.author)
    let response = try await server.withClient { try await $0.mergeAccounts(request) }
    try LinkOutcome.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it was merged before") }
  }
}
