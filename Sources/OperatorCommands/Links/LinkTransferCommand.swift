import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkTransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfer", abstract: "Gives a chain or app transaction to another account.",
    discussion: """
      Asks first; --yes answers for a script. With --from it is done only if it belongs to that \
      account, which guards against what changed meanwhile. Exit code 2 when it does not, or when \
      nothing is known of it.
      """)

  @OptionGroup var target: TargetOptions

  @Option(help: "Whose it has to be now. Default: anybody's, or nobody's.")
  var from: String?

  @Option(help: "The account that gets it; it may be one of which nothing is known yet.")
  var to: String

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if from == "" { throw ValidationError("--from is empty") }
  }

  func run() async throws {
    let source = from.map { " from account \($0)" } ?? ""
    try confirmation.confirm(
      "Give \(target.target.display) of \(app.display)\(source) to account \(to)?")
    let request = TransferPurchaseRequest(
      scope: app.scope, target: target.target, fromAccountID: from.map { AccountID($0) },
      toAccountID: AccountID(to), reason: audit.reason, author: audit.author)
    let response = try await server.withClient { try await $0.transferPurchase(request) }
    try LinkOutcome.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it is that account's already") }
  }
}
