import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkTransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfer", abstract: "Moves a chain or app transaction to another account.",
    discussion: """
      Asks for confirmation; --yes skips the question. With --from it is moved only if it belongs \
      to that account, which protects against concurrent changes. Exit code 2 when it does not, or \
      when it is not known.
      """)

  @OptionGroup var target: TargetOptions

  @Option(help: "The account that must own it now. Default: any account, or none.")
  var from: String?

  @Option(help: "The new account; it may be one that is not known yet.")
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
    let scope = try await app.scope(on: server)
    let source = from.map { " from account \($0)" } ?? ""
    try confirmation.confirm(
      "Move \(target.target.display) of \(scope.display)\(source) to account \(to)?")
    let request = TransferPurchaseRequest(
      scope: scope, target: target.target, fromAccountID: from.map { AccountID($0) },
      toAccountID: AccountID(to), reason: audit.reason, onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.transferPurchase(request) }
    try LinkOutput.write(response, to: output)
    if !response.isChanged {
      StandardError.write("nothing changed: it already belongs to that account")
    }
  }
}

struct LinkMergeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Merges one account into another.",
    discussion: """
      Asks for confirmation; --yes skips the question. This cannot be undone: the id of the first \
      account becomes an alias of the second. Exit code 2 when the first account is not known.
      """)

  @Argument(help: "The account that becomes an alias.")
  var from: String

  @Argument(help: "The account that remains; it may be one that is not known yet.")
  var into: String

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if from == into { throw ValidationError("an account is not merged into itself") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    try confirmation.confirm(
      "Merge account \(from) of \(scope.display) into account \(into), permanently?")
    let request = MergeAccountsRequest(
      scope: scope, fromAccountID: AccountID(from), intoAccountID: AccountID(into),
      reason: audit.reason, onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.mergeAccounts(request) }
    try LinkOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it was merged before") }
  }
}
