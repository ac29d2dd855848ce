import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct CustomerDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Deletes an account, and unlinks all that it owns.",
    discussion: """
      Asks first; --yes answers for a script. The account's id, its tokens and its grants go, from \
      the histories of its links too; it cannot be undone. What Apple signed is kept, without an \
      account, until somebody claims it. Exit code 0 also when it was deleted before, and 2 when \
      nothing is known of the account.
      """)

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try confirmation.confirm("Delete account \(account) of \(app.display), for good?")
    let request = DeleteCustomerRequest(
      scope: app.scope, accountID: AccountID(account), reason: audit.reason,
      author: audit.author)
    let response = try await server.withClient { try await $0.deleteCustomer(request) }
    try LinkOutcome.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it was deleted before") }
  }
}
