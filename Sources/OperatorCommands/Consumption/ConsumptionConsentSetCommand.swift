import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ConsumptionConsentSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Records whether a customer consents.",
    discussion: """
      Without consent nothing is sent. Consent that is withdrawn counts for every call that begins \
      after this command has ended.
      """)

  @Argument(help: "The account; it may be one that is not known yet.")
  var account: String

  @Argument(help: "yes or no.")
  var consents: ConsentAnswer

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if account.isEmpty { throw ValidationError("the account is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = SetConsumptionConsentRequest(
      scope: scope, accountID: AccountID(account), isConsented: consents == .yes,
      onBehalfOf: audit.onBehalfOf, reason: audit.reason)
    let response = try await server.withClient { try await $0.setConsumptionConsent(request) }
    try output.write(response) { ConsumptionTable.consent($0.consent) }
    if !response.isChanged { StandardError.write("nothing changed") }
  }
}

/// Whether a customer consents, on the command line.
enum ConsentAnswer: String, ExpressibleByArgument, CaseIterable {
  case yes
  case no
}
