import EntitlementDomain
import Foundation
import JSONDocuments
import StoreSimulator
import TestSupport
import Testing
import Wire

/// The names in what `entitlectl` prints as JSON. Programs read them: none may change or go.
@Suite("The JSON of entitlectl is a contract", .timeLimit(.minutes(5)))
struct DocumentContractTests {
  @Test func `of a customer's state`() async throws {
    let bench = try Bench()
    _ = try bench.folder.write(DocumentContract.catalog, to: "catalog.yaml")
    let server = try await bench.startServer()
    try await bench.submit(Bench.population(LifeCycle.allCases.count), to: server)
    try await submitEverything(bench, to: server)
    let run = try await Bench.control(
      server, "customer", "list", "--bundle-id", "com.example.scribe", "--output", "json")
    let standing = [
      "call_to_action", "commitment", "commitment.billing_period_number",
      "commitment.expires_at_ms", "commitment.total_billing_periods", "core_state",
      "expiration_reason", "first_purchase_at_ms", "grace_end_ms", "notices", "offer",
      "offer.discount_type", "offer.identifier", "offer.period", "offer.type",
      "original_transaction_id", "ownership", "pending_change", "pending_change.effective_at_ms",
      "pending_change.product_id", "period_end_ms", "period_start_ms", "price_consent",
      "product_id", "product_type", "renewal_offer", "renewal_offer.discount_type",
      "renewal_offer.identifier", "renewal_offer.period", "renewal_offer.type", "revocation",
      "revocation.date_ms", "revocation.reason", "revocation.type", "status", "storefront",
      "transaction_id", "will_renew", "win_back_offer_ids",
    ]
    let names =
      [
        "account_id", "bundle_id", "calls_to_action", "core_state", "entitlements", "environment",
        "evaluated_at_ms", "grandfathering", "groups", "next_transition_at_ms", "products",
        "revision", "entitlements[].entitlement_id", "entitlements[].sources",
        "entitlements[].sources[].evidence", "entitlements[].sources[].grandfathering_rule_id",
        "entitlements[].sources[].grant_id",
        "entitlements[].sources[].original_transaction_id", "entitlements[].sources[].product_id",
        "entitlements[].sources[].since_ms", "entitlements[].sources[].transaction_id",
        "entitlements[].sources[].until_ms", "grandfathering[].app_transaction_id",
        "grandfathering[].flagged", "grandfathering[].outcome", "grandfathering[].reason",
        "grandfathering[].rule_id", "groups[].group_id", "groups[].introductory_offer_used",
        "groups[].standing", "groups[].trial_used", "products[].group_id",
        "products[].in_catalog", "products[].product_id", "products[].standing",
      ] + standing.flatMap { ["groups[].standing.\($0)", "products[].standing.\($0)"] }
    let places = try run.document(JSONTree.self).places()
    #expect(places.sorted() == names.map { "[].\($0)" }.sorted())
  }

  /// Customers who have what no life cycle has: an offer, a commitment, the ways in which a refund is
  /// described, a grant and an early copy of the app; a renewal under an offer; offers to be won
  /// back.
  private func submitEverything(_ bench: Bench, to server: RunningServer) async throws {
    let now = Bench.population(0).now
    let timeline = Timeline(
      .refunded, seed: 9, start: now.advanced(by: -40 * Milliseconds.dayLength))
    var transaction = try #require(timeline.events.last?.transactions.first)
    transaction.offer = Offer(
      type: OfferType(rawValue: 1), identifier: "WINTER", discountType: .freeTrial, period: "P1W")
    transaction.commitment = Commitment(
      billingPeriodNumber: 1, totalBillingPeriods: 12, expiresDate: transaction.expiresDate)
    transaction.revocationType = RevocationType(rawValue: "REFUND_FULL")
    var app = AppTransactionPayload(
      bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID, signedDate: now,
      environment: .production)
    app.appTransactionID = "700000000000000001"
    app.originalApplicationVersion = "7"
    app.originalPlatform = "iOS"
    // 2014-01-01T00:00:00Z.
    app.originalPurchaseDate = 1_388_534_400_000
    try await submit(bench, to: server, account: "everything", [transaction.json, app.json])
    let grant = try await Bench.control(
      server, "grant", "add", "--account", "everything", "--entitlement", "pro", "--bundle-id",
      "com.example.scribe", "--reason", "a test", "--author", "ada")
    try #require(grant.exit == .code(0))

    for (lifeCycle, account) in [(LifeCycle.renewals, "offered"), (.expired, "missed")] {
      let timeline = Timeline(
        lifeCycle, seed: 9,
        start: now.advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength))
      let history = timeline.history(until: now)
      var renewalInfo = try #require(history.compactMap(\.renewalInfo).last)
      renewalInfo.signedDate = renewalInfo.signedDate.advanced(by: 1)
      renewalInfo.renewalOffer = Offer(
        type: .promotional, identifier: "SPRING", discountType: .payUpFront, period: "P1M")
      renewalInfo.eligibleWinBackOfferIDs = ["BACK"]
      try await submit(
        bench, to: server, account: account,
        history.flatMap { $0.transactions.map(\.json) } + [renewalInfo.json])
    }
  }

  private func submit(
    _ bench: Bench, to server: RunningServer, account: String, _ payloads: [[UInt8]]
  ) async throws {
    let signed = try payloads.map { try bench.authority.sign(payloadJSON: $0) }
    let run = try await Bench.control(
      server, "submit", "-", "--account", account, "--output", "jsonl",
      input: signed.joined(separator: "\n"))
    try #require(run.exit == .code(0))
  }

  @Test func `of verification, inspection and submission`() async throws {
    let bench = try Bench()
    let server = try await bench.startServer()
    let event = try #require(try bench.signed(.firstPurchase).first)
    let input = (event.facts + ["nonsense"]).joined(separator: "\n")
    let trust = "\(bench.authority.rootFingerprint)"
    let notification = try #require(event.notification)
    let rows: [([String], String, [String])] = [
      (
        ["verify", "-", "--trust-root", trust], input,
        ["file", "kind", "payload", "reason", "verdict"]
      ),
      (
        ["inspect", "-"], input,
        [
          "certificates", "certificates[].fingerprint", "certificates[].issuer",
          "certificates[].subject", "certificates[].valid_from_ms",
          "certificates[].valid_until_ms", "error", "file", "header", "kind", "payload",
        ]
      ),
      (
        ["submit", "-", "--server", "\(server.address)"], input,
        [
          "disposition", "file", "kind", "link", "original_transaction_id", "reason",
          "transaction_id", "verdict",
        ]
      ),
      (
        ["notification", "submit", "-", "--server", "\(server.address)"],
        "\(notification)\nnonsense",
        [
          "duplicate", "events", "file", "notification_type", "notification_uuid", "reason",
          "results", "results[].disposition", "results[].file", "results[].kind",
          "results[].link", "results[].original_transaction_id", "results[].transaction_id",
          "results[].verdict", "subtype", "verdict",
        ]
      ),
      (["health", "--server", "\(server.address)"], "", ["status", "version"]),
    ]
    try await DocumentContract.compare(rows, closed: ["payload", "header"])
  }

  @Test func `of receipts`() async throws {
    let bench = try Bench()
    let authority = try ReceiptAuthority.loadOrCreate(inDirectory: bench.authorityPath)
    let trust = ["--trust-root", "\(authority.rootFingerprint)"]
    let server = try await bench.startServer(trust[0], trust[1])
    let timeline = Timeline(.refunded, seed: 9, start: 1_704_067_200_000)
    var receipt = timeline.receipt(at: timeline.start.advanced(by: 90 * Milliseconds.dayLength))
    receipt.receiptType = "ProductionVPP"
    receipt.expirationDate = receipt.creationDate
    let path = bench.folder.file("receipt.der")
    try Data(try authority.sign(receipt)).write(to: URL(filePath: path))
    let shown =
      [
        "application_version", "bundle_id", "creation_ms", "environment", "expiration_ms", "in_app",
        "in_app[].cancellation_ms", "in_app[].expires_ms",
        "in_app[].is_in_introductory_offer_period", "in_app[].is_trial_period",
        "in_app[].original_purchase_ms", "in_app[].original_transaction_id",
        "in_app[].product_id", "in_app[].purchase_ms", "in_app[].quantity",
        "in_app[].transaction_id", "in_app[].unknown_attributes",
        "in_app[].unknown_attributes[].type", "in_app[].unknown_attributes[].value",
        "in_app[].unknown_attributes[].version", "in_app[].web_order_line_item_id",
        "original_application_version", "original_purchase_ms", "receipt_type",
        "unknown_attributes", "unknown_attributes[].type", "unknown_attributes[].value",
        "unknown_attributes[].version",
      ].map { "receipt.\($0)" } + ["receipt"]
    let rows: [([String], String, [String])] = [
      (["verify", path] + trust, "", ["file", "kind", "verdict"] + shown),
      (
        ["inspect", path], "",
        [
          "certificates", "certificates[].fingerprint", "certificates[].issuer",
          "certificates[].subject", "certificates[].valid_from_ms",
          "certificates[].valid_until_ms", "digest_algorithm", "file", "kind",
        ] + shown
      ),
      (
        ["receipt", "submit", path, "--server", "\(server.address)"], "",
        [
          "file", "receipt", "receipt.application_version", "receipt.bundle_id",
          "receipt.creation_ms", "receipt.environment", "receipt.expiration_ms",
          "receipt.in_app_count", "receipt.original_application_version",
          "receipt.original_purchase_ms", "receipt.receipt_type", "results",
          "results[].disposition", "results[].file", "results[].kind", "results[].link",
          "results[].original_transaction_id", "results[].transaction_id", "results[].verdict",
          "verdict",
        ]
      ),
    ]
    try await DocumentContract.compare(rows, closed: [])
  }

  @Test func `inside a payload the names stay Apple's, and numbers exact`() async throws {
    let bench = try Bench()
    let payload = #"{"bundleId":"com.example.scribe","price":9007199254740993,"x_yZ":[1.5,null]}"#
    let jws = try bench.authority.sign(payloadJSON: Array(payload.utf8))
    let run = try await ProgramRun.of(
      .entitlectl, ["inspect", "-", "--output", "jsonl"], input: jws)
    let document = try #require(try run.lines(JSONTree.self).first)
    #expect(document["payload"] == (try JSONTree(parsing: payload.utf8)))
    #expect(run.output.contains("9007199254740993"))
  }

  private func names<Value: RawRepresentable<Int> & CaseIterable>(_ type: Value.Type) -> [String] {
    Value.allCases.sorted { $0.rawValue < $1.rawValue }.map { wireName($0) }
  }

  @Test func `the names of values are those of the protos`() {
    #expect(names(CoreState.self) == ["NEW", "ACTIVE", "INACTIVE"])
    #expect(
      names(CallToAction.self) == [
        "NONE", "MERCHANDISE", "FIX_BILLING", "WIN_BACK", "CONSENT_TO_PRICE", "KEEP_SUBSCRIPTION",
      ])
    #expect(
      names(DetailedStatus.self) == [
        "ACTIVE", "GRACE", "BILLING_RETRY", "EXPIRED", "REVOKED", "REPLACED", "UPCOMING",
        "CONSUMED", "UNDETERMINED",
      ])
    #expect(
      names(ExpirationReason.self) == [
        "UNKNOWN", "CUSTOMER_CANCELLED", "BILLING_ERROR", "PRICE_INCREASE_DECLINED",
        "PRODUCT_UNAVAILABLE", "OTHER", "ENDED",
      ])
    #expect(names(PriceConsent.self) == ["PENDING", "ACCEPTED"])
    #expect(
      names(Notice.self) == [
        "SUCCESSOR_MISSING", "RENEWAL_OVERDUE", "INFERRED", "DURATION_MISSING", "PRODUCT_UNKNOWN",
        "TYPE_UNKNOWN", "EXPIRES_DATE_MISSING",
      ])
    #expect(
      names(SubmissionVerdict.self) == [
        "UNRECOGNIZED", "OK", "MALFORMED", "UNSUPPORTED_ALGORITHM", "INVALID_CERTIFICATE",
        "UNTRUSTED_CHAIN", "CERTIFICATE_EXPIRED", "CERTIFICATE_REVOKED", "RETRYABLE",
        "INVALID_SIGNATURE", "WRONG_APP", "WRONG_ENVIRONMENT", "WRONG_DEVICE",
      ])
    #expect(
      names(SubmittedKind.self) == [
        "TRANSACTION", "RENEWAL_INFO", "APP_TRANSACTION", "NOTIFICATION",
      ]
    )
    #expect(names(SubmissionDisposition.self) == ["ADDED", "REPLACED", "DUPLICATE", "SUPERSEDED"])
    #expect(
      names(SubmissionLinkOutcome.self) == [
        "UNLINKED", "UNCHANGED", "LINKED", "TRANSFERRED", "ALREADY_LINKED", "CLAIM_LIMITED",
      ])
    #expect(
      names(GrandfatheringOutcome.self) == ["GRANTED", "DENIED", "UNKNOWN", "NOT_EVALUATED"])
    #expect(
      names(GrandfatheringReason.self) == [
        "NO_APP_TRANSACTION", "ENVIRONMENT", "VERSION_AND_DATE_AGREE",
        "VERSION_AND_DATE_DISAGREE", "DATE_ALONE", "DATE_ALONE_UNREADABLE_VERSION",
        "VERSION_ALONE", "NO_EVIDENCE",
      ])
    #expect(
      names(ConsideredItem.Kind.self) == [
        "TRANSACTION", "RENEWAL_INFO", "APP_TRANSACTION", "GRANT", "GRANDFATHERING_RULE",
      ])
    #expect(
      names(FeedEventKind.self) == [
        "CONSUMPTION_REQUESTED", "REFUNDED", "REFUND_DECLINED", "REFUND_REVERSED", "SHARING_ENDED",
        "PRICE_CONSENT_NEEDED", "CONSENT_RESCINDED", "REFETCH_DUE",
      ])
    #expect(
      names(RefetchReason.self) == [
        "SUCCESSOR_MISSING", "STATUS_MISMATCH", "PAYLOAD_MISSING", "RENEWAL_OVERDUE",
      ])
    #expect(
      names(ChangeKind.self) == [
        "FACTS", "LINKED", "UNLINKED", "GRANTS", "EVENTS", "MERGED", "DELETED",
      ])
    let reasons: [LinkReason] = [
      .named, .claimed, .appAccountToken, .appTransaction, .previousChain, .imported, .merged,
      .assigned, .unassigned, .transferred, .deleted,
    ]
    #expect(
      reasons.map { wireName($0) } == [
        "NAMED", "CLAIMED", "APP_ACCOUNT_TOKEN", "APP_TRANSACTION", "PREVIOUS_CHAIN", "IMPORTED",
        "MERGED", "ASSIGNED", "UNASSIGNED", "TRANSFERRED", "DELETED",
      ])
    #expect(
      StoreEnvironment.allCases.map(\.rawValue).sorted()
        == ["LocalTesting", "Production", "Sandbox", "Xcode"])
  }
}
