import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreFinishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "finish", abstract: "Tells Apple that a purchase was delivered.",
    discussion: """
      Finish Transaction: the app no longer gets it as unfinished. Only for a purchase that was delivered \
      and that no app will finish: an app that has not heard of it does not get it again. Asks for \
      confirmation; --yes skips the question. Without --environment: production.
      """)

  @Argument(help: "The transaction id.")
  var id: String

  @OptionGroup var change: AppStoreChangeOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    try change.confirm("Finish transaction \(id) of \(scope.display)?")
    let request = FinishTransactionRequest(
      scope: scope, transactionID: TransactionID(id), isDryRun: change.dryRun,
      onBehalfOf: change.onBehalfOf, reason: change.reason)
    let response = try await server.withClient { try await $0.finishTransaction(request) }
    try output.write(response) { AppStoreDocument.details(of: $0, done: "finished") }
  }
}
