import ArgumentParser
import EntitlementDomain
import Foundation
import RPCClient
import Wire

struct OfferSignCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign", abstract: "Signs a promotional offer for one purchase attempt.",
    discussion: """
      Exit code 2 when the customer may not have the offer, with the rule that says so; when the \
      catalog has no such offer; and when the server has no key of the App Store Server API for the \
      app. A JWS (v2) names a transaction of the customer, if the server knows one.
      """)

  @OptionGroup var customer: CustomerOptions

  @Argument(help: "The product's id.")
  var product: String

  @Argument(help: "The offer's identifier in App Store Connect.")
  var offer: String

  @Option(help: "v2, a JWS for StoreKit 2, or v1, for StoreKit 1.")
  var format: OfferFormatName = .v2

  @Option(help: "The UUID that the app sets at the purchase; with v1 only. Default: none.")
  var appAccountToken: String?

  @Option(help: "A transaction or app transaction of the customer, for the signature.")
  var transaction: String?

  @OptionGroup var audit: OfferAuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if transaction == "" { throw ValidationError("--transaction is empty") }
    guard let appAccountToken else { return }
    if format == .v2 { throw ValidationError("--app-account-token is for --format v1") }
    if UUID(uuidString: appAccountToken) == nil {
      throw ValidationError("--app-account-token is not a UUID")
    }
  }

  func run() async throws {
    let request = SignPromotionalOfferRequest(
      customer: customer.selector, scope: try await app.scope(on: server),
      productID: ProductID(product), offerID: OfferID(offer), format: format.format,
      appAccountToken: appAccountToken.map { AppAccountToken($0.lowercased()) },
      transactionID: transaction.map { TransactionID($0) }, onBehalfOf: audit.onBehalfOf,
      reason: audit.reason)
    let response = try await server.withClient { try await $0.signPromotionalOffer(request) }
    try output.write(response, table: OfferTable.details)
  }
}

struct OfferIntroductoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "introductory",
    abstract: "Signs whether a customer may have an introductory offer, for one purchase attempt.",
    discussion: """
      The verdict is signed, also that the customer may not have the offer. --allow and --deny say \
      otherwise, where the catalog lets callers do so. Exit code 2 when it does not, when no \
      transaction of the customer is known, when the product has no introductory offer in the \
      catalog, and when the server has no key of the App Store Server API for the app.
      """)

  @OptionGroup var customer: CustomerOptions

  @Argument(help: "The product's id.")
  var product: String

  @Flag(help: "The customer may have the offer, whatever the verdict is.")
  var allow = false

  @Flag(help: "The customer may not have the offer, whatever the verdict is.")
  var deny = false

  @Option(help: "A transaction or app transaction of the customer, for the signature.")
  var transaction: String?

  @OptionGroup var audit: OfferAuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if allow, deny { throw ValidationError("--allow and --deny exclude each other") }
    if transaction == "" { throw ValidationError("--transaction is empty") }
  }

  func run() async throws {
    let request = SignIntroductoryOfferEligibilityRequest(
      customer: customer.selector, scope: try await app.scope(on: server),
      productID: ProductID(product), decision: allow ? .allow : deny ? .deny : .asJudged,
      transactionID: transaction.map { TransactionID($0) }, onBehalfOf: audit.onBehalfOf,
      reason: audit.reason)
    let response = try await server.withClient {
      try await $0.signIntroductoryOfferEligibility(request)
    }
    try output.write(response, table: OfferTable.details)
  }
}

/// The reason of a signature, and for whom it is made. Both are optional: the verdict is a reason.
struct OfferAuditOptions: ParsableArguments {
  @Option(help: "Reason, for the audit trail.")
  var reason: String?

  @OptionGroup var onBehalfOfOption: OnBehalfOfOption

  var onBehalfOf: String? { onBehalfOfOption.name }

  func validate() throws {
    if reason == "" { throw ValidationError("--reason is empty") }
  }
}

/// The name of a form on the command line.
enum OfferFormatName: String, ExpressibleByArgument, CaseIterable {
  case v1
  case v2

  var format: OfferSignatureFormat {
    switch self {
    case .v1: .v1
    case .v2: .v2
    }
  }
}
