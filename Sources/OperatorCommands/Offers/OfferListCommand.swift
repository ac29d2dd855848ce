import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct OfferListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the offers of an app, with the verdict for one customer.",
    discussion: """
      Sorted by product; the introductory offer of a product has no id. A customer who is not known \
      is a new one. WHY is the rule that decided, with a reason where the customer may not have the \
      offer.
      """)

  @OptionGroup var customer: CustomerOptions

  @Option(help: "Only the offers of this product.")
  var product: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if product == "" { throw ValidationError("--product is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = GetOfferEligibilityRequest(
      customer: customer.selector, scope: scope,
      productID: product.map { ProductID($0) })
    let response = try await server.withClient { try await $0.offerEligibility(request) }
    try output.write(response.offers, table: OfferTable.text)
    if response.offers.isEmpty, output.output == .table {
      StandardError.write("the catalog has no such offers of \(scope.bundleID)")
    }
  }
}
