import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct AppStoreNotificationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications",
    abstract: "Lists the notifications that Apple has sent, or tries to send.",
    discussion: """
      Get Notification History, with Apple's attempts to deliver each. Apple keeps 180 days, in Sandbox \
      30. Contents are as they were first sent, and may be out of date. notification list shows what \
      arrived at the server, and reconcile stores what did not. With --output jsonl each page is a line, \
      printed as it arrives.
      """)

  @Option(help: ArgumentHelp("From this time on: \(PastMoment.forms).", valueName: "time"))
  var since: PastMoment

  @Option(help: ArgumentHelp("Until this time: RFC 3339. Default: now.", valueName: "time"))
  var until: Moment?

  @Option(help: "Only those about the customer of this transaction. Not with --type.")
  var transaction: String?

  @Option(help: "Only this notificationType, as Apple writes it, such as DID_RENEW.")
  var type: String?

  @Option(help: "Only this subtype of the type, as Apple writes it.")
  var subtype: String?

  @Flag(help: "Only those that have not reached the server, also while Apple still tries.")
  var onlyFailures = false

  @OptionGroup var pages: AppStorePageOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var payloads: AppStorePayloadOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if transaction != nil, type != nil {
      throw ValidationError("--transaction and --type exclude each other")
    }
    if subtype != nil, type == nil { throw ValidationError("--subtype needs --type") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    var request = ListSentNotificationsRequest(
      scope: scope, start: since.moment(from: .now), end: until?.milliseconds,
      transactionID: transaction.map { TransactionID($0) }, notificationType: type,
      notificationSubtype: subtype, onlyFailures: onlyFailures,
      includesSigned: payloads.showSigned, stores: payloads.store)
    let count = pages.count
    let whole = try await server.withClient { [output] client in
      var whole: SentNotificationsResponse?
      while true {
        let left = count - (whole?.notifications.count ?? 0)
        request.pageSize = min(left, ListSentNotificationsRequest.largestPageSize)
        let page = try await client.listSentNotifications(request)
        if output.output == .jsonl {
          try output.write(document: try AppStoreDocument.json(page)) { _ in "" }
        }
        var joined = page
        joined.notifications = (whole?.notifications ?? []) + page.notifications
        whole = joined
        request.paginationToken = page.paginationToken
        guard page.paginationToken != nil, joined.notifications.count < count else {
          return joined
        }
      }
    }
    if output.output != .jsonl {
      try output.write(document: try AppStoreDocument.json(whole)) { _ in
        AppStoreDocument.table(of: whole.notifications)
      }
    }
    if output.output == .table, whole.paginationToken != nil {
      StandardError.write("there is more: --limit or --all")
    }
    try AppStoreDocument.checkVerdicts(whole.notifications.map(\.notification))
  }
}
