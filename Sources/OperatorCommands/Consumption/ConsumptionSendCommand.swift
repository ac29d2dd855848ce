import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ConsumptionSendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Sends what was not sent.",
    discussion: """
      Opens the request, and a server sends it in a moment, after the same checks as ever: see \
      entitlectl consumption show. One that waits is attempted at once; one that was sent does not \
      change. After OUTCOME_UNCERTAIN Apple may get the information twice: --yes skips the \
      question. Exit code 2 when the App Store has not asked, and when nothing can be sent: the \
      message names the cause.
      """)

  @Argument(help: "The purchase, by its transaction id.")
  var transaction: String

  @Flag(help: "Only say what would be done.")
  var dryRun = false

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if transaction.isEmpty { throw ValidationError("the transaction id is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    if !dryRun {
      try confirmation.confirm("Tell the App Store about transaction \(transaction)?")
    }
    let request = SendConsumptionRequest(
      scope: scope, transactionID: TransactionID(transaction), isDryRun: dryRun,
      onBehalfOf: audit.onBehalfOf, reason: audit.reason)
    let response = try await server.withClient { try await $0.sendConsumption(request) }
    try output.write(response) { ConsumptionTable.details($0.request) }
    if !response.isChanged { StandardError.write("nothing changed") }
  }
}
