import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Gives an account what has none.",
    discussion: """
      The account may be one of which nothing is known yet. Exit code 2 when nothing is known of \
      the chain or app transaction, or it belongs to another account: link transfer takes it from \
      that one.
      """)

  @Option(help: "The account.")
  var account: String

  @OptionGroup var target: TargetOptions
  @OptionGroup var audit: AuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = LinkAccountRequest(
      scope: app.scope, target: target.target, accountID: AccountID(account),
      reason: audit.reason, author: audit.author)
    let response = try await server.withClient { try await $0.linkAccount(request) }
    try LinkOutcome.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it is that account's already") }
  }
}
