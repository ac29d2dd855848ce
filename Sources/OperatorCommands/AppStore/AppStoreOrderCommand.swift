import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreOrderCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "order", abstract: "Shows the purchases of an order.",
    discussion: """
      Look Up Order ID: the id is in the receipt that Apple mailed to the customer. Apple looks up orders \
      of Production only, and at most 10 a second. Exit code 2 when the id is none of this app.
      """)

  @Argument(help: "The order id.")
  var id: String

  @Option(
    name: [.customLong("app"), .customLong("bundle-id")],
    help: "The app. Default: the context's, else the only one that the server lets the caller use.")
  var app: String?

  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if app == "" { throw ValidationError("--app is empty") }
  }

  func run() async throws {
    let scope = try await AppOptions.scope(app, .production, on: server)
    let request = LookUpOrderRequest(
      scope: scope, orderID: id, includesSigned: payloads.showSigned, stores: payloads.store)
    let response = try await server.withClient { try await $0.lookUpOrder(request) }
    guard response.orderStatus == 0 else {
      throw CommandFailure(
        .refused,
        "Apple knows no such order of the app in Production; it looks up no orders of Sandbox")
    }
    try AppStoreAnswer.write(response, output)
  }
}
