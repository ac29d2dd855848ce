import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Lists the transactions of a customer as Apple knows them now.",
    discussion: """
      Get Transaction History (v2): all types, the oldest change first. Different filters must all match; \
      of one filter that is given several times, one. Without --environment Production is asked, and \
      Sandbox if Production does not know the id. Each page ends with a revision: with the same filters, \
      --environment and --revision, only what is new or changed since is listed. With --output jsonl \
      each page is a line, printed as it arrives. Exit code 2 when Apple does not know the id.
      """)

  @Argument(
    help: "A transaction id, original transaction id or app transaction id of the customer.")
  var id: String

  @Option(
    help: ArgumentHelp("Purchased from this time on: \(PastMoment.forms).", valueName: "time"))
  var since: PastMoment?

  @Option(help: ArgumentHelp("Purchased before this time: RFC 3339.", valueName: "time"))
  var until: Moment?

  @Option(help: "Only this product. May be repeated.")
  var product: [String] = []

  @Option(help: "Only this type: \(StoreProductTypeName.list). May be repeated.")
  var type: [StoreProductTypeName] = []

  @Option(help: "Only this subscription group. May be repeated.")
  var group: [String] = []

  @Option(help: "Only this ownership: purchased or family-shared.")
  var ownership: StoreOwnershipName?

  @Flag(help: "The latest change first. Such a revision leads to nothing new later.")
  var descending = false

  @Flag(inversion: .prefixedNo, help: "Only revoked ones, or no revoked ones.")
  var revoked: Bool?

  @Option(help: "Continue after this revision of an earlier answer. Needs --environment.")
  var revision: String?

  @OptionGroup var pages: AppStorePageOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (scope, orSandbox) = try await app.scopes(on: server)
    let request = ListTransactionsRequest(
      scope: scope, orSandbox: orSandbox && revision == nil, id: id,
      start: since?.moment(from: .now), end: until?.milliseconds, productIDs: product,
      productTypes: type.map(\.appleName), subscriptionGroupIDs: group,
      ownershipType: ownership?.appleName, isDescending: descending, revoked: revoked,
      includesSigned: payloads.showSigned, stores: payloads.store)
    try await AppStoreList.write(
      from: revision, scope: scope, pages, on: server, output
    ) { client, scope, revision, size in
      var page = request
      if revision != self.revision { (page.scope, page.orSandbox) = (scope, false) }
      page.revision = revision
      page.pageSize = size
      return try await client.listTransactions(page)
    }
  }
}

struct AppStoreRefundsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refunds", abstract: "Lists the refunds of a customer that Apple approved.",
    discussion: """
      Get Refund History (v2), the oldest first. Apple answers at most 10 a second. Without --environment \
      Production is asked, and Sandbox if Production does not know the id. An empty list is no error; \
      exit code 2 when Apple does not know the id.
      """)

  @Argument(
    help: "A transaction id, original transaction id or app transaction id of the customer.")
  var id: String

  @Option(help: "Continue after this revision of an earlier answer. Needs --environment.")
  var revision: String?

  @OptionGroup var pages: AppStorePageOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (scope, orSandbox) = try await app.scopes(on: server)
    let request = ListRefundsRequest(
      scope: scope, orSandbox: orSandbox && revision == nil, id: id,
      includesSigned: payloads.showSigned, stores: payloads.store)
    try await AppStoreList.write(
      from: revision, scope: scope, pages, on: server, output
    ) { client, scope, revision, size in
      var page = request
      if revision != self.revision { (page.scope, page.orSandbox) = (scope, false) }
      page.revision = revision
      page.pageSize = size
      return try await client.listRefunds(page)
    }
  }
}

/// Prints lists of transactions.
enum AppStoreList {
  /// Asks for pages until there are enough, and prints them: as lines of JSON when they arrive, else
  /// together.
  ///
  /// - Parameter fetch: asks for one page after a revision.
  static func write(
    from start: String?, scope: AppScope, _ options: AppStorePageOptions,
    on server: ServerOptions, _ output: OutputOptions,
    _ fetch: (EntitlementClient, AppScope, String?, Int) async throws -> AppStorePayloadsResponse
  ) async throws {
    let whole = try await server.withClient { client in
      var whole: AppStorePayloadsResponse?
      var (scope, revision) = (scope, start)
      while true {
        let left = options.count - (whole?.payloads.count ?? 0)
        let page = try await fetch(
          client, scope, revision, min(left, ListTransactionsRequest.largestPageSize))
        if output.output == .jsonl {
          try output.write(document: try AppStoreDocument.json(page)) { _ in "" }
        }
        var joined = page
        joined.payloads = (whole?.payloads ?? []) + page.payloads
        whole = joined
        (scope, revision) = (page.scope, page.revision)
        guard page.hasMore, joined.payloads.count < options.count else { return joined }
      }
    }
    if output.output != .jsonl {
      try output.write(document: try AppStoreDocument.json(whole)) { _ in
        AppStoreDocument.table(of: whole.payloads)
      }
    }
    if output.output == .table, let revision = whole.revision {
      let environment = EnvironmentName(argument: whole.scope.environment.rawValue)?.rawValue ?? ""
      let what = whole.hasMore ? "there is more" : "for what is new later"
      StandardError.write(
        TerminalText.escaped("\(what): --environment \(environment) --revision \(revision)"))
    }
    try AppStoreDocument.checkVerdicts(whole.payloads)
  }
}

/// Apple's filter of product types on the command line.
enum StoreProductTypeName: String, ExpressibleByArgument, CaseIterable {
  case autoRenewable = "auto-renewable"
  case nonRenewable = "non-renewable"
  case consumable
  case nonConsumable = "non-consumable"

  /// For help.
  static let list = "auto-renewable, non-renewable, consumable or non-consumable"

  var appleName: String { rawValue.uppercased().replacing("-", with: "_") }
}

enum StoreOwnershipName: String, ExpressibleByArgument, CaseIterable {
  case purchased
  case familyShared = "family-shared"

  var appleName: String { rawValue.uppercased().replacing("-", with: "_") }
}
