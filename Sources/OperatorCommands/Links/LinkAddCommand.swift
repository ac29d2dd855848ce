import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Links a chain or app transaction that has no account.",
    discussion: """
      The account may be one that is not known yet. Exit code 2 when the chain or app transaction \
      is not known, or belongs to another account: link transfer moves it.
      """)

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var target: TargetOptions
  @OptionGroup var audit: AuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = LinkAccountRequest(
      scope: scope, target: target.target, accountID: AccountID(account),
      reason: audit.reason, onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.linkAccount(request) }
    try LinkOutput.write(response, to: output)
    if !response.isChanged {
      StandardError.write("nothing changed: it already belongs to that account")
    }
  }
}

struct LinkRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Unlinks a chain or app transaction from its account.",
    discussion: """
      Asks for confirmation; --yes skips the question. Signed data is kept without an account. \
      Only a claim or link add links it again; an account token in signed data does not. Exit code \
      2 when the chain or app transaction is not known.
      """)

  @OptionGroup var target: TargetOptions
  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    try confirmation.confirm(
      "Unlink \(target.target.display) of \(scope.display) from its account?")
    let request = UnlinkAccountRequest(
      scope: scope, target: target.target, reason: audit.reason, onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.unlinkAccount(request) }
    try LinkOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it had no account") }
  }
}

/// The chain or app transaction that a link command changes.
struct TargetOptions: ParsableArguments {
  @Option(help: "Original transaction id of the chain.")
  var originalTransaction: String?

  @Option(help: "Id of the app transaction, instead of --original-transaction.")
  var appTransaction: String?

  func validate() throws {
    guard (originalTransaction == nil) != (appTransaction == nil) else {
      throw ValidationError(
        "exactly one of --original-transaction and --app-transaction is required")
    }
  }

  var target: LinkTarget {
    if let originalTransaction {
      .chain(OriginalTransactionID(originalTransaction))
    } else {
      // `validate()` has checked that exactly one is set.
      .appTransaction(AppTransactionID(appTransaction ?? ""))
    }
  }
}

extension LinkTarget {
  /// Human-readable: `chain 2000000000000001`.
  var display: String {
    switch self {
    case .chain(let id): "chain \(id)"
    case .appTransaction(let id): "app transaction \(id)"
    }
  }
}
