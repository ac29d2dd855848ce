import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct CustomerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customer",
    abstract: "Shows, explains, exports and deletes customers.",
    subcommands: [
      CustomerGetCommand.self, CustomerListCommand.self, CustomerExplainCommand.self,
      CustomerHistoryCommand.self, CustomerExportCommand.self, CustomerDeleteCommand.self,
    ])
}

struct CustomerGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Shows the state of one customer.",
    discussion: """
      A customer of whom nothing is stored has the state NEW. With --fetch the server asks the App Store \
      first, and stores what it answers; that needs the permission fetch, and a key of the App Store \
      Server API for the app. No account is linked by it.
      """)

  @OptionGroup var customer: CustomerOptions

  @Flag(
    help: """
      Fetch a customer of whom nothing is stored from the App Store: with --by original-transaction, \
      transaction or app-transaction.
      """)
  var fetch = false

  @Option(help: "Answer for this time: RFC 3339 or milliseconds since 1970. Default: now.")
  var at: Moment?

  @OptionGroup var knowledge: KnowledgeOptions

  @Option(help: "Answer at least as new as the write that returned this revision.")
  var minRevision: Int64?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if fetch, [.account, .appAccountToken].contains(customer.by) {
      throw ValidationError(
        "--fetch needs --by original-transaction, transaction or app-transaction")
    }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = GetCustomerStateRequest(
      customer: customer.selector, scope: scope,
      consistency: minRevision.map { .atLeastAsFresh(revision: $0) } ?? .minimizeLatency,
      at: at?.milliseconds, knowledge: knowledge.value, fetchesIfUnknown: fetch)
    let answer = try await server.withClient { try await $0.customerState(request) }
    guard case .state(let state) = answer else {
      throw CommandFailure(.failed, "the server answered without a state")
    }
    try output.write(state, table: StateTable.details)
  }
}

struct CustomerListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the states of an app's customers, sorted by account id.")

  @Option(help: "Maximum number of customers to print. Default: all.")
  var limit: Int?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let states = try await server.withClient { client in
      let pageSize = min(limit ?? .max, ListCustomersRequest.largestPageSize)
      var states: [CustomerState] = []
      for try await state in client.customers(in: scope, pageSize: pageSize) {
        states.append(state)
        if states.count == limit { break }
      }
      return states
    }
    try output.write(states, table: StateTable.list)
  }
}

struct CustomerDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Deletes an account and unlinks everything that it owns.",
    discussion: """
      Asks for confirmation; --yes skips the question. Deletes the account's id, its tokens and \
      its grants, also from link histories. This cannot be undone. Signed data is kept without an \
      account until a customer claims it. Exit code 0 also when the account was deleted before, 2 \
      when it is not known.
      """)

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    try confirmation.confirm("Delete account \(account) of \(scope.display), permanently?")
    let request = DeleteCustomerRequest(
      scope: scope, accountID: AccountID(account), reason: audit.reason,
      onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.deleteCustomer(request) }
    try LinkOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it was deleted before") }
  }
}
