import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreTransactionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transaction", abstract: "Shows one transaction as Apple knows it now.",
    discussion: """
      Get Transaction Info: purchases of all types. Without --environment Production is asked, and \
      Sandbox if Production does not know the id. Exit code 2 when Apple does not know it, which Apple \
      also says of new ids for a while: conclude nothing from it.
      """)

  @Argument(help: "The transaction id.")
  var id: String

  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (scope, orSandbox) = try await app.scopes(on: server)
    let request = GetTransactionRequest(
      scope: scope, orSandbox: orSandbox, transactionID: TransactionID(id),
      includesSigned: payloads.showSigned, stores: payloads.store)
    try AppStoreAnswer.write(
      try await server.withClient { try await $0.transaction(request) }, output)
  }
}

struct AppStoreAppTransactionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-transaction", abstract: "Shows a customer's download of the app.",
    discussion: """
      Get App Transaction Info. Without --environment Production is asked, and Sandbox if Production \
      does not know the id. Exit code 2 when Apple does not know the id, or has no app transaction.
      """)

  @Argument(
    help: "A transaction id, original transaction id or app transaction id of the customer.")
  var id: String

  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (scope, orSandbox) = try await app.scopes(on: server)
    let request = GetAppTransactionRequest(
      scope: scope, orSandbox: orSandbox, id: id, includesSigned: payloads.showSigned,
      stores: payloads.store)
    try AppStoreAnswer.write(
      try await server.withClient { try await $0.appTransaction(request) }, output)
  }
}

/// Prints answers whose payloads are shown in full.
enum AppStoreAnswer {
  static func write(_ response: AppStorePayloadsResponse, _ output: OutputOptions) throws {
    try output.write(document: try AppStoreDocument.json(response)) { _ in
      ([StateTable.line("app", response.scope.display)]
        + response.payloads.map { AppStoreDocument.details(of: $0) }).joined(separator: "\n")
    }
    try AppStoreDocument.checkVerdicts(response.payloads)
  }
}
