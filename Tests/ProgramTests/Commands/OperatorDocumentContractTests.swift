import Foundation
import StoreSimulator
import TestSupport
import Testing

/// As ``DocumentContractTests``, for what operators do.
@Suite("The JSON of entitlectl for operators is a contract", .timeLimit(.minutes(5)))
struct OperatorDocumentContractTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private let app = ["--bundle-id", "com.example.scribe"]
  private let why = ["--reason", "a test", "--author", "ada"]

  private func startServer() async throws -> (RunningServer, at: [String]) {
    _ = try bench.folder.write(DocumentContract.catalog, to: "catalog.yaml")
    let server = try await bench.startServer()
    return (server, ["--server", "\(server.address)"])
  }

  @Test func `of events and the feed`() async throws {
    let (server, at) = try await startServer()
    let events = DocumentContract.names(
      in: "events[]",
      [
        "deadline_ms", "detail", "kind", "notification_uuid", "original_transaction_id",
        "refetch_reason", "transaction_id",
      ]
    ).dropFirst()
    let notifications =
      try bench.signed(.refundDeclined).compactMap(\.notification) + [mismatch()]
    let grant = try await ProgramRun.of(
      .entitlectl, ["grant", "add", "--account", "a", "--entitlement", "pro"] + app + why + at)
    try #require(grant.exit == .code(0))
    try await DocumentContract.compare(
      [
        (
          ["notification", "submit", "-"] + at, notifications.joined(separator: "\n"),
          [
            "duplicate", "events", "file", "notification_type", "notification_uuid", "results",
            "subtype", "verdict",
          ] + events
        ),
        (
          ["change", "list", "--all"] + at, "",
          [
            "account_id", "bundle_id", "committed_at_ms", "deleted", "environment", "events",
            "facts", "grants", "linked", "merged", "original_transaction_id", "sequence",
            "unlinked",
          ] + events
        ),
        (
          ["statistics"] + at, "",
          ["counters", "counters[].name", "counters[].value", "version"]
        ),
      ], closed: ["results"])
    #expect(try await server.stop() == .code(0))
  }

  /// A notification that calls a subscription expired that its facts call active (R47).
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
    let grant = [
      "account_id", "author", "bundle_id", "created_at_ms", "entitlement_id", "environment",
      "expires_ms", "grant_id", "reason", "starts_ms",
    ]
    let withdrawn =
      grant + DocumentContract.names(in: "withdrawal", ["at_ms", "author", "reason"])
    let decision = DocumentContract.names(in: "decision", ["rule", "sentence"])
    let item = ["decisive", "identifier", "kind", "product_id", "stated_at_ms"] + decision
    let reasoning = DocumentContract.names(
      in: "reasoning",
      decision + ["considered", "changes"] + item.map { "considered[].\($0)" }
        + (["at_ms"] + decision).map { "changes[].\($0)" })
    try await DocumentContract.compare(
      [
        (
          ["grant", "add", "--account", "a", "--entitlement", "pro", "--id", id, "--for", "P1Y"]
            + app + why + at, "",
          ["changed", "revision"] + DocumentContract.names(in: "grant", grant)
        ),
        (
          ["customer", "explain", "a"] + app + at, "",
          [
            "state", "entitlements", "entitlements[].entitlement_id", "entitlements[].conferred",
            "groups", "groups[].group_id", "groups[].status",
          ] + reasoning.flatMap { ["entitlements[].\($0)", "groups[].\($0)"] }
        ),
        (
          ["grant", "withdraw", id, "--yes"] + app + why + at, "",
          ["changed", "revision"] + DocumentContract.names(in: "grant", withdrawn)
        ),
        (["grant", "list", "--account", "a"] + app + at, "", withdrawn),
      ], closed: ["state"])
    #expect(try await server.stop() == .code(0))
  }

  @Test func `of links and records`() async throws {
    let (server, at) = try await startServer()
    let facts = try bench.signed(.firstPurchase).flatMap(\.facts).joined(separator: "\n")
    let submission = try await Bench.control(
      server, "submit", "-", "--output", "jsonl", input: facts)
    try #require(submission.exit == .code(0))
    let chains = try submission.lines(JSONTree.self)
      .compactMap { $0["original_transaction_id"]?.text }
    let chain = try #require(chains.first)
    let notification = try #require(
      try bench.signed(.firstPurchase).compactMap(\.notification).first)
    let told = try await Bench.control(server, "notification", "submit", "-", input: notification)
    try #require(told.exit == .code(0))
    let grant = try await ProgramRun.of(
      .entitlectl, ["grant", "add", "--account", "a", "--entitlement", "pro"] + app + why + at)
    try #require(grant.exit == .code(0))

    let customer = [
      "account_id", "bundle_id", "environment", "original_transaction_id", "revision",
    ]
    let changed =
      ["changed"]
      + DocumentContract.names(
        in: "targets[]", ["app_transaction_id", "original_transaction_id"])
      + DocumentContract.names(in: "customers[]", customer)
    let names = changed.map {
      $0 == "targets[]" || $0 == "customers[]" ? String($0.dropLast(2)) : $0
    }
    let target = ["--original-transaction", chain]
    let step = [
      "at_ms", "author", "from_deleted", "note", "original_transaction_id", "reason",
      "to_account_id", "to_deleted",
    ]
    try await DocumentContract.compare(
      [
        (
          ["chain", "list", "--unlinked"] + app + at, "",
          ["changed_at_ms", "original_transaction_id", "revision"]
        ),
        (
          ["link", "resolve", chain, "--by", "original-transaction"] + app + at, "",
          customer.filter { $0 != "account_id" }
        ),
        (["link", "add", "--account", "a"] + target + app + why + at, "", names),
        (
          ["link", "list", "--account", "a"] + app + at, "",
          ["app_transaction_id", "is_unsigned", "original_transaction_id", "reason", "since_ms"]
        ),
        (["link", "history"] + target + app + at, "", step),
        (
          ["customer", "history", "a"] + app + at, "",
          ["account_id", "entries"]
            + ["at_ms", "grant", "link", "notification"].map { "entries[].\($0)" }
            + (step + ["app_transaction_id"]).map { "entries[].link.\($0)" }
            + ["notification_uuid", "signed_date_ms", "subtype", "type"]
            .map { "entries[].notification.\($0)" }
        ),
      ], closed: ["grant"])
    #expect(try await server.stop() == .code(0))
  }

  @Test func `of the catalog`() async throws {
    let (server, at) = try await startServer()
    let issues = ["", "[].column", "[].error", "[].field", "[].line", "[].message"]
    let attempt = DocumentContract.names(in: "last_attempt", ["at_ms", "issues", "valid"])
    let catalog =
      [
        "apps", "digest", "entitlements", "grandfathering_rules", "in_force_since_ms", "products",
      ] + issues.map { "warnings\($0)" } + attempt
    let attemptIssues =
      ["last_attempt.digest"] + issues.dropFirst().map { "last_attempt.issues\($0)" }

    // Without a cutoff the rule is doubtful; a duration that is none is wrong.
    let doubtful = DocumentContract.catalog.replacing(
      /\n +original_purchase_date_before: .+/, with: "")
    _ = try bench.folder.write(doubtful, to: "catalog.yaml")
    try await DocumentContract.compare([
      (["catalog", "reload"] + at, "", catalog + attemptIssues)
    ])
    _ = try bench.folder.write(
      doubtful.replacing("duration: P3M", with: "duration: soon"), to: "catalog.yaml")
    try await DocumentContract.compare([
      (["catalog", "reload", "--dry-run"] + at, "", catalog + attemptIssues),
      (
        ["catalog", "check", bench.catalogPath], "",
        ["file", "valid"] + issues.map { "issues\($0)" }
      ),
    ])
    try FileManager.default.removeItem(atPath: bench.catalogPath)
    try await DocumentContract.compare([
      (["catalog", "reload"] + at, "", catalog + ["last_attempt.failure"])
    ])
    #expect(try await server.stop() == .code(0))
  }
}
