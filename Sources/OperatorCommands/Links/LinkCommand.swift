import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Links between accounts and purchases.",
    discussion: """
      Chains of transactions and app transactions are linked to accounts. The catalog's link \
      policy decides about claims of customers. These commands override the policy, and every \
      change is audited with its author, time and reason. Every change can be repeated safely.
      """,
    subcommands: [
      LinkListCommand.self, LinkHistoryCommand.self, LinkResolveCommand.self, LinkAddCommand.self,
      LinkRemoveCommand.self, LinkTransferCommand.self, LinkMergeCommand.self,
      LinkTokensCommand.self, LinkBindTokenCommand.self,
    ])
}

struct LinkListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the chains and app transactions of an account.",
    discussion: "For a merged account, lists the account that it was merged into.")

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = ListLinksRequest(scope: scope, accountID: AccountID(account))
    let links = try await server.withClient { try await $0.links(request).links }
    try output.write(links, table: LinkTable.links)
  }
}

struct LinkHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Lists the links of a chain, an app transaction or an account, oldest first.",
    discussion: "At most the latest 10,000 entries.")

  @Argument(help: "The account.")
  var account: String?

  @Option(help: "Original transaction id of a chain, instead of an account.")
  var originalTransaction: String?

  @Option(help: "Id of an app transaction, instead of an account.")
  var appTransaction: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard [account, originalTransaction, appTransaction].compactMap(\.self).count == 1 else {
      throw ValidationError(
        "exactly one of an account, --original-transaction and --app-transaction is required")
    }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = GetLinkHistoryRequest(scope: scope, subject: subject)
    let events = try await server.withClient { try await $0.linkHistory(request).events }
    try output.write(events, table: LinkTable.history)
  }

  private var subject: GetLinkHistoryRequest.Subject {
    if let originalTransaction {
      return .target(.chain(OriginalTransactionID(originalTransaction)))
    }
    if let appTransaction { return .target(.appTransaction(AppTransactionID(appTransaction))) }
    // `validate()` has checked that exactly one is set.
    return .account(AccountID(account ?? ""))
  }
}

struct LinkResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Finds the customer that has an identifier.",
    discussion: """
      Prints an account, after merges, or a chain without an account. Exit code 2 when no customer \
      has the identifier, or when several chains without an account have it.
      """)

  @OptionGroup var customer: CustomerOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = ResolveAccountRequest(customer: customer.selector, scope: scope)
    let found = try await server.withClient { try await $0.resolveAccount(request) }
    guard let subject = found.subject else {
      throw CommandFailure(
        .refused,
        found.revision == 0
          ? "no customer has this identifier"
          : "several chains without an account have this identifier")
    }
    try output.write(
      SubmittedCustomer(subject: subject, scope: scope, revision: found.revision)
    ) { LinkTable.resolved($0.subject, revision: $0.revision) }
  }
}
