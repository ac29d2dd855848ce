import Foundation
import StoreSimulator
import TestSupport
import Testing

/// Like ``DocumentContractTests``, for commands of operators.
@Suite("The JSON of entitlectl for operators is a contract", .timeLimit(.minutes(5)))
struct OperatorDocumentContractTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private let app = ["--bundle-id", "com.example.scribe"]
  private let why = ["--reason", "a test", "--on-behalf-of", "ada"]

  private func startServer() async throws -> (RunningServer, at: [String]) {
    _ = try bench.folder.write(DocumentContract.catalog, to: "catalog.yaml")
    let server = try await bench.startServer()
    return (server, ["--server", "\(server.address)"])
  }

  @Test func `of events and the feed`() async throws {
    let (server, at) = try await startServer()
    let notifications =
      try bench.signed(.refundDeclined).compactMap(\.notification) + [mismatch()]
    let grant = try await ProgramRun.of(
      .entitlectl, ["grant", "add", "a", "pro"] + app + why + at)
    try #require(grant.exit == .code(0))
    try await DocumentContract.expectMessagesOfFiles([
      (
        ["notification", "submit", "-"] + at, notifications.joined(separator: "\n"),
        "entitle.v1.SubmitNotificationResponse"
      )
    ])
    try await DocumentContract.expectMessages([
      (["change", "list", "--all"] + at, "", "entitle.v1.Change"),
      (["notification", "list"] + at, "", "entitle.v1.ReceivedNotification"),
      (["job", "list"] + at, "", "entitle.v1.Job"),
      (["job", "show", "1"] + at, "", "entitle.v1.Job"),
      (
        ["consumption", "consent", "set", "a", "yes"] + app + at, "",
        "entitle.v1.SetConsumptionConsentResponse"
      ),
      (
        ["consumption", "consent", "get", "a"] + app + at, "", "entitle.v1.ConsumptionConsent"
      ),
      (
        ["consumption", "percentage", "set", "2", "42.5"] + app + at, "",
        "entitle.v1.SetConsumptionPercentageResponse"
      ),
      (["consumption", "list"] + app + at, "", "entitle.v1.ConsumptionRequest"),
      (["statistics"] + at, "", "entitle.v1.GetStatisticsResponse"),
      (["whoami"] + at, "", "entitle.v1.WhoAmIResponse"),
      (["credentials", "status"] + at, "", "entitle.v1.CredentialsResponse"),
    ])
    #expect(try await server.stop() == .code(0))
  }

  /// A notification whose status is EXPIRED while the facts say ACTIVE (R47).
  private func mismatch() throws -> String {
    let event = try #require(try bench.signed(.firstPurchase).first)
    let transaction = try #require(event.transactions.first)
    let payload = """
      {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","version":"2.0",\
      "notificationUUID":"0190a000-0000-4000-8000-00000000000b","signedDate":\(event.at),\
      "data":{"appAppleId":\(SimulatedApp.appAppleID),"bundleId":"com.example.scribe",\
      "environment":"Production","status":2,"signedTransactionInfo":"\(transaction)",\
      "signedRenewalInfo":"\(try #require(event.renewalInfo))"}}
      """
    return try bench.authority.sign(payloadJSON: Array(payload.utf8))
  }

  @Test func `of grants and explanations`() async throws {
    let (server, at) = try await startServer()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts).joined(separator: "\n")
    let submission = try await Bench.control(
      server, "submit", "-", "--account", "a", input: facts)
    try #require(submission.exit == .code(0))
    let id = "0190a000-0000-4000-8000-00000000000a"
    try await DocumentContract.expectMessages([
      (
        ["grant", "add", "a", "pro", "--id", id, "--for", "P1Y"]
          + app + why + at, "", "entitle.v1.GrantResponse"
      ),
      (
        ["customer", "explain", "a"] + app + at, "", "entitle.v1.ExplainCustomerStateResponse"
      ),
      (
        ["grant", "withdraw", id, "--yes"] + app + why + at, "", "entitle.v1.GrantResponse"
      ),
      (["grant", "list", "a"] + app + at, "", "entitle.v1.Grant"),
    ])
    #expect(try await server.stop() == .code(0))
  }

  @Test func `of links and records`() async throws {
    let (server, at) = try await startServer()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts).joined(separator: "\n")
    let submission = try await Bench.control(
      server, "submit", "-", "--output", "jsonl", input: facts)
    try #require(submission.exit == .code(0))
    let chains = try submission.lines(JSONTree.self)
      .compactMap { $0["originalTransactionId"]?.text }
    let chain = try #require(chains.first)
    let notification = try #require(
      try bench.signed(.firstPurchase).compactMap(\.notification).first)
    let told = try await Bench.control(server, "notification", "submit", "-", input: notification)
    try #require(told.exit == .code(0))
    let grant = try await ProgramRun.of(
      .entitlectl, ["grant", "add", "a", "pro"] + app + why + at)
    try #require(grant.exit == .code(0))

    let target = ["--original-transaction", chain]
    try await DocumentContract.expectMessages([
      (["chain", "list", "--unlinked"] + app + at, "", "entitle.v1.UnlinkedChain"),
      (
        ["link", "resolve", chain, "--by", "original-transaction"] + app + at, "",
        "entitle.v1.CustomerRevision"
      ),
      (
        ["link", "add", "a"] + target + app + why + at, "",
        "entitle.v1.LinkResponse"
      ),
      (["link", "list", "a"] + app + at, "", "entitle.v1.Link"),
      (["link", "history"] + target + app + at, "", "entitle.v1.LinkEvent"),
      (
        ["customer", "history", "a"] + app + at, "",
        "entitle.v1.GetCustomerHistoryResponse"
      ),
    ])
    #expect(try await server.stop() == .code(0))
  }

  @Test func `of the catalog`() async throws {
    let (server, at) = try await startServer()
    let catalog = "entitle.v1.CatalogResponse"
    // Without a cutoff the rule has a warning; an invalid duration is an error.
    let doubtful = DocumentContract.catalog.replacing(
      /\n +original_purchase_date_before: .+/, with: "")
    _ = try bench.folder.write(doubtful, to: "catalog.yaml")
    try await DocumentContract.expectMessages([(["catalog", "reload"] + at, "", catalog)])
    _ = try bench.folder.write(
      doubtful.replacing("duration: P3M", with: "duration: soon"), to: "catalog.yaml")
    try await DocumentContract.expectMessages([
      (["catalog", "reload", "--dry-run"] + at, "", catalog)
    ])
    let issue = ["column", "error", "field", "line", "message"].map { "issues[].\($0)" }
    try await DocumentContract.compare([
      (["catalog", "check", bench.catalogPath], "", ["file", "valid", "issues"] + issue)
    ])
    try FileManager.default.removeItem(atPath: bench.catalogPath)
    try await DocumentContract.expectMessages([(["catalog", "reload"] + at, "", catalog)])
    #expect(try await server.stop() == .code(0))
  }
}
