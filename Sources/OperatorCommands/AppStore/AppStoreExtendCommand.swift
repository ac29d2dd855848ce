import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreExtendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "extend", abstract: "Extends the renewal date of one subscription.",
    discussion: """
      Extend a Subscription Renewal Date: the customer gets the days for free, and so do family members. \
      It cannot be taken back. Apple allows it twice in 365 days, and refuses it for a subscription that \
      has expired, is in billing retry, is in a free offer or is shared by a family member. --dry-run \
      shows the status, the renewal date and what of this it sees, with exit code 2 if Apple would \
      refuse. Asks for confirmation; --yes skips the question. After a timeout or an error of Apple's \
      server the message says that it may have been extended: the statuses show the renewal date. It is \
      never repeated by itself. Without --environment: production.
      """)

  @Argument(help: "The original transaction id of the subscription.")
  var id: String

  @OptionGroup var renewal: AppStoreExtensionOptions
  @OptionGroup var change: AppStoreChangeOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if renewal.days == nil { throw ValidationError("--days is needed") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let days = renewal.days ?? 0
    try change.confirm(
      "Extend subscription \(id) of \(scope.display) by \(days) days? It cannot be taken back.")
    let request = ExtendRenewalRequest(
      scope: scope, originalTransactionID: OriginalTransactionID(id), extendByDays: days,
      extendReasonCode: renewal.extendReason?.code ?? 0,
      requestIdentifier: renewal.identifier(isDryRun: change.dryRun),
      isDryRun: change.dryRun, onBehalfOf: change.onBehalfOf, reason: change.reason)
    let response = try await server.withClient { try await $0.extendRenewal(request) }
    try output.write(response) {
      AppStoreDocument.details(of: $0, done: "extended by \(days) days")
    }
    guard response.obstacles.isEmpty else { throw CommandFailure(.refused, nil) }
  }
}
