import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreStatusesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statuses", abstract: "Shows the statuses of a customer's subscriptions.",
    discussion: """
      Get All Subscription Statuses: what Apple computes of all auto-renewable subscriptions of the \
      customer in this app, with the latest transaction and renewal info of each. Without --environment \
      Production is asked, and Sandbox if Production does not know the id. Exit code 2 when Apple does \
      not know the id.
      """)

  @Argument(
    help: "A transaction id, original transaction id or app transaction id of the customer.")
  var id: String

  @Option(help: "Only this status: \(StoreStatusName.list). May be repeated.")
  var status: [StoreStatusName] = []

  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if status.count > StoreStatusName.allCases.count {
      throw ValidationError("--status is repeated too often")
    }
  }

  func run() async throws {
    let (scope, orSandbox) = try await app.scopes(on: server)
    let request = GetSubscriptionStatusesRequest(
      scope: scope, orSandbox: orSandbox, id: id, statuses: status.map(\.status),
      includesSigned: payloads.showSigned, stores: payloads.store)
    let response = try await server.withClient { try await $0.subscriptionStatuses(request) }
    try output.write(document: try AppStoreDocument.json(response)) { _ in
      AppStoreDocument.table(of: response.subscriptions)
    }
    try AppStoreDocument.checkVerdicts(
      response.subscriptions.flatMap { [$0.transaction, $0.renewalInfo].compactMap(\.self) })
  }
}

/// Apple's statuses on the command line.
enum StoreStatusName: String, ExpressibleByArgument, CaseIterable {
  case active
  case expired
  case billingRetry = "billing-retry"
  case gracePeriod = "grace-period"
  case revoked

  /// For help.
  static let list = "active, expired, billing-retry, grace-period or revoked"

  var status: AppStoreStatus {
    switch self {
    case .active: .active
    case .expired: .expired
    case .billingRetry: .billingRetry
    case .gracePeriod: .billingGracePeriod
    case .revoked: .revoked
    }
  }
}
