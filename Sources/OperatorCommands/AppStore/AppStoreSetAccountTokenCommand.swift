import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct AppStoreSetAccountTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set-account-token", abstract: "Sets the appAccountToken of a purchase at Apple.",
    discussion: """
      Set App Account Token: Apple puts the UUID into the transactions and notifications of the purchase \
      from then on, in place of the one that the app set. It links nothing by itself: bind the token to \
      an account with link bind-token first, and purchases that are submitted with it are linked to that \
      account. Asks for confirmation; --yes skips the question. Apple refuses purchases that a family \
      member shares (4000185), and transactions that are not the first of their chain (4000187). Without \
      --environment: production.
      """)

  @Argument(help: "The original transaction id of the purchase.")
  var id: String

  @Argument(help: "The UUID.")
  var token: String

  @OptionGroup var change: AppStoreChangeOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if UUID(uuidString: token) == nil { throw ValidationError("the token is a UUID") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    try change.confirm("Set the token of purchase \(id) of \(scope.display) to \(token)?")
    let request = SetAppAccountTokenRequest(
      scope: scope, originalTransactionID: OriginalTransactionID(id),
      appAccountToken: AppAccountToken(token), isDryRun: change.dryRun,
      onBehalfOf: change.onBehalfOf, reason: change.reason)
    let response = try await server.withClient { try await $0.setAppAccountToken(request) }
    try output.write(response) { AppStoreDocument.details(of: $0, done: "the token is set") }
  }
}
