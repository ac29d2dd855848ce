import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing
import Wire

@testable import OperatorCommands

/// The member names in the JSON output of `entitlectl`. Programs read them: none may change or be
/// removed.
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
    let places = try run.document(JSONTree.self).places()
    // These customers have no notices.
    let expected = DocumentContract.places(in: CustomerState.messageType).map { "[]\($0)" }
      .filter { !$0.hasSuffix(".notices") }
    #expect(places.sorted() == expected.sorted())
  }

  /// Submits customers with features that no life cycle has: an offer, a commitment, the
  /// descriptions of a refund, a grant and an early copy of the app, a renewal under an offer, and
  /// win-back offers.
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
      server, "grant", "add", "everything", "pro", "--bundle-id",
      "com.example.scribe", "--reason", "a test", "--on-behalf-of", "ada")
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
    let trust = "production=\(bench.authority.rootFingerprint)"
    let notification = try #require(event.notification)
    try await DocumentContract.compare(
      [
        (
          ["verify", "-", "--trust-root", trust], input,
          ["detail", "file", "kind", "payload", "verdict"]
        ),
        (
          ["inspect", "-"], input,
          [
            "certificates", "certificates[].fingerprint", "certificates[].issuer",
            "certificates[].subject", "certificates[].validFromMs",
            "certificates[].validUntilMs", "error", "file", "header", "kind", "payload",
          ]
        ),
      ], closed: ["payload", "header"])
    try await DocumentContract.expectMessagesOfFiles([
      (["submit", "-", "--server", "\(server.address)"], input, "entitle.v1.ItemResult"),
      (
        ["notification", "submit", "-", "--server", "\(server.address)"],
        "\(notification)\nnonsense", "entitle.v1.SubmitNotificationResponse"
      ),
    ])
    try await DocumentContract.compare(
      [
        (
          ["health", "--server", "\(server.address)"], "",
          [
            "server", "server.catalogDigest", "server.nodeName", "server.storeKind",
            "server.version", "server.warnings", "status", "version",
          ]
        )
      ], closed: [])
  }

  @Test func `of receipts`() async throws {
    let bench = try Bench()
    let authority = try ReceiptAuthority.loadOrCreate(inDirectory: bench.authorityPath)
    let trust = ["--trust-root", "production=\(authority.rootFingerprint)"]
    let server = try await bench.startServer(trust[0], trust[1])
    let timeline = Timeline(.refunded, seed: 9, start: 1_704_067_200_000)
    var receipt = timeline.receipt(at: timeline.start.advanced(by: 90 * Milliseconds.dayLength))
    receipt.receiptType = "ProductionVPP"
    receipt.expirationDate = receipt.creationDate
    receipt.items[0].promotionalOfferID = "spring"
    let path = bench.folder.file("receipt.der")
    try Data(try authority.sign(receipt)).write(to: URL(filePath: path))
    let shown =
      [
        "applicationVersion", "bundleId", "creationMs", "environment", "expirationMs", "inApp",
        "inApp[].cancellationMs", "inApp[].expiresMs",
        "inApp[].isInIntroductoryOfferPeriod", "inApp[].isTrialPeriod",
        "inApp[].originalPurchaseMs", "inApp[].originalTransactionId",
        "inApp[].productId", "inApp[].promotionalOfferId", "inApp[].purchaseMs",
        "inApp[].quantity",
        "inApp[].transactionId", "inApp[].unknownAttributes",
        "inApp[].unknownAttributes[].type", "inApp[].unknownAttributes[].value",
        "inApp[].unknownAttributes[].version", "inApp[].webOrderLineItemId",
        "originalApplicationVersion", "originalPurchaseMs", "receiptType",
        "unknownAttributes", "unknownAttributes[].type", "unknownAttributes[].value",
        "unknownAttributes[].version",
      ].map { "receipt.\($0)" } + ["receipt"]
    let rows: [([String], String, [String])] = [
      (["verify", path] + trust, "", ["file", "kind", "verdict"] + shown),
      (
        ["inspect", path], "",
        [
          "certificates", "certificates[].fingerprint", "certificates[].issuer",
          "certificates[].subject", "certificates[].validFromMs",
          "certificates[].validUntilMs", "digestAlgorithm", "file", "kind",
        ] + shown
      ),
    ]
    try await DocumentContract.compare(rows, closed: [])
    try await DocumentContract.expectMessagesOfFiles([
      (
        ["receipt", "submit", path, "--server", "\(server.address)"], "",
        "entitle.v1.SubmitReceiptResponse"
      )
    ])
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

  @Test func `the names of values in tables are those of the protos`() {
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
        "TYPE_UNKNOWN", "EXPIRES_DATE_MISSING", "PREDECESSOR_MISSING",
      ])
    #expect(
      names(SubmissionVerdict.self) == [
        "UNRECOGNIZED", "OK", "MALFORMED", "UNSUPPORTED_ALGORITHM", "INVALID_CERTIFICATE",
        "UNTRUSTED_CHAIN", "CERTIFICATE_EXPIRED", "CERTIFICATE_REVOKED", "RETRYABLE",
        "INVALID_SIGNATURE", "WRONG_APP", "WRONG_ENVIRONMENT", "WRONG_DEVICE",
        "APP_NOT_PERMITTED",
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
        "ACCOUNT_FULL", "RECLAIMED", "DISPUTED",
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
        "TOKEN_AMBIGUOUS", "APP_TRANSACTION_AMBIGUOUS", "ACCOUNT_FULL", "JOB_GIVEN_UP",
        "CONSUMPTION_SENT", "CONSUMPTION_NOT_SENT", "PURCHASE_DISPUTED",
      ])
    #expect(names(AccountTokenState.self) == ["LEARNED", "AMBIGUOUS", "BOUND"])
    #expect(
      names(RefetchReason.self) == [
        "SUCCESSOR_MISSING", "STATUS_MISMATCH", "PAYLOAD_MISSING", "RENEWAL_OVERDUE",
        "PREDECESSOR_MISSING",
      ])
    #expect(
      names(ChangeKind.self) == [
        "FACTS", "LINKED", "UNLINKED", "GRANTS", "EVENTS", "MERGED", "DELETED",
      ])
    let reasons: [LinkReason] = [
      .named, .claimed, .appAccountToken, .appTransaction, .previousChain, .imported, .merged,
      .assigned, .unassigned, .transferred, .deleted, .yielded, .settled,
      .refused,
    ]
    #expect(
      reasons.map { wireName($0) } == [
        "NAMED", "CLAIMED", "APP_ACCOUNT_TOKEN", "APP_TRANSACTION", "PREVIOUS_CHAIN", "IMPORTED",
        "MERGED", "ASSIGNED", "UNASSIGNED", "TRANSFERRED", "DELETED",
        "YIELDED", "SETTLED", "REFUSED",
      ])
    #expect(
      StoreEnvironment.allCases.map(\.rawValue).sorted()
        == ["LocalTesting", "Production", "Sandbox", "Xcode"])
  }
}
