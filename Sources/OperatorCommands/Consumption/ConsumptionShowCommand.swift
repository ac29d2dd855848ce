import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ConsumptionShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the App Store's request about a purchase.",
    discussion: "Exit code 2 when the App Store has not asked about it.")

  @Argument(help: "The purchase, by its transaction id.")
  var transaction: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if transaction.isEmpty { throw ValidationError("the transaction id is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let response = try await server.withClient {
      try await $0.listConsumptionRequests(
        ListConsumptionRequestsRequest(scope: scope, transactionID: TransactionID(transaction)))
    }
    guard let request = response.requests.first else {
      throw CommandFailure(.refused, "the App Store has not asked about this purchase")
    }
    try output.write(request, table: ConsumptionTable.details)
  }
}
