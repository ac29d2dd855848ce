import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct LinkHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Who owned a chain or app transaction, or what an account owned, oldest first.",
    discussion: "The latest 10,000 steps at most.")

  @Option(help: "The account.")
  var account: String?

  @Option(help: "The chain, by its original transaction id, instead of --account.")
  var originalTransaction: String?

  @Option(help: "The app transaction, by its id, instead of --account.")
  var appTransaction: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard [account, originalTransaction, appTransaction].compactMap(\.self).count == 1 else {
      throw ValidationError(
        "one of --account, --original-transaction and --app-transaction is needed")
    }
  }

  func run() async throws {
    let request = GetLinkHistoryRequest(scope: app.scope, subject: subject)
    let events = try await server.withClient { try await $0.linkHistory(request).events }
    try output.write(events, table: LinkTable.history)
  }

  private var subject: GetLinkHistoryRequest.Subject {
    if let originalTransaction {
      return .target(.chain(OriginalTransactionID(originalTransaction)))
    }
    if let appTransaction { return .target(.appTransaction(AppTransactionID(appTransaction))) }
    // Validated: exactly one is there.
    return .account(AccountID(account ?? ""))
  }
}
