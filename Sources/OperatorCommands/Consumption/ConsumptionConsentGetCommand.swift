import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ConsumptionConsentGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Shows what is recorded of a customer's consent.",
    discussion: "Exit code 2 when nothing is recorded: the customer has not consented.")

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if account.isEmpty { throw ValidationError("the account is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let response = try await server.withClient {
      try await $0.consumptionConsent(
        GetConsumptionConsentRequest(scope: scope, accountID: AccountID(account)))
    }
    guard let consent = response.consent else {
      throw CommandFailure(.refused, "nothing is recorded of account \(account)")
    }
    try output.write(consent, table: ConsumptionTable.consent)
  }
}
