import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

/// One message of any type, for tests of all types.
struct MessageSample: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The name of the message and of its Swift type.
  let messageName: String
  /// Encodes the message.
  let encoded: @Sendable () throws(MessageError) -> ByteBuffer
  /// Decodes, encodes and decodes again, and expects the same value. True when the value is the
  /// sample.
  let decode: @Sendable (ByteBuffer) throws(MessageError) -> Bool

  init(_ variant: String, _ message: some WireMessage & Equatable) {
    messageName = "\(type(of: message))"
    testDescription = "\(messageName), \(variant)"
    encoded = { () throws(MessageError) in try message.encoded() }
    decode = { buffer throws(MessageError) in try MessageSample.decode(buffer, against: message) }
  }

  private static func decode<Message: WireMessage & Equatable>(
    _ buffer: ByteBuffer, against sample: Message
  ) throws(MessageError) -> Bool {
    let message = try Message.decode(from: buffer)
    let again = try Message.decode(from: message.encoded())
    #expect(again == message, "what was decoded does not survive a round trip")
    return message == sample
  }
}

extension MessageSample {
  static let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)
  static let barest = AppScope(bundleID: "a", environment: .production)

  static let all: [MessageSample] =
    reads + writes + receipts + explanations + administration + audits + access + links + records
    + watches + jobs + appStore + consumption + offers + migration
    + [
      MessageSample("full", HealthCheckRequest(service: "entitle.v1.EntitlementService")),
      MessageSample("bare", HealthCheckRequest()),
      MessageSample(
        "full",
        HealthCheckResponse(
          status: .serving, version: "0.1.0", needsCredentials: true,
          developmentClock: 1_772_366_400_123)),
      MessageSample(
        "at the epoch", HealthCheckResponse(status: .serving, developmentClock: 0)),
      MessageSample("bare", HealthCheckResponse(status: .unknown)),
    ]

  private static let reads: [MessageSample] = [
    MessageSample(
      "full",
      GetCustomerStateRequest(
        customer: .account("émile"), scope: scope, consistency: .atLeastAsFresh(revision: 7),
        at: 1_700_000_000_123, ifRevisionDiffers: 41)),
    MessageSample("bare", GetCustomerStateRequest(customer: .account("a"), scope: barest)),
    MessageSample(
      "fetched",
      GetCustomerStateRequest(
        customer: .transaction("2"), scope: barest, fetchesIfUnknown: true)),
    MessageSample(
      "at the epoch",
      GetCustomerStateRequest(
        customer: .transaction("2"), scope: barest, at: 0, ifRevisionDiffers: 0)),
    MessageSample("full", GetCustomerStateResponse.state(.full)),
    MessageSample("bare", GetCustomerStateResponse.state(.bare)),
    MessageSample("not modified", GetCustomerStateResponse.notModified(revision: 9)),
    MessageSample(
      "full",
      BatchGetCustomerStateRequest(
        customers: [
          .account("a"), .originalTransaction("1"), .transaction("2"), .appTransaction("3"),
          .appAccountToken("7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ], scope: scope, consistency: .fullyConsistent, at: -1)),
    MessageSample("bare", BatchGetCustomerStateRequest(customers: [], scope: barest)),
    MessageSample(
      "full",
      BatchGetCustomerStateResponse(
        results: [.state(.full), .state(.bare), .notModified(revision: 0)])),
    MessageSample("bare", BatchGetCustomerStateResponse(results: [])),
    MessageSample(
      "full",
      CheckEntitlementRequest(
        customer: .originalTransaction("2000000000000001"), scope: scope, entitlementID: "pro",
        consistency: .fullyConsistent, at: .init(.max))),
    MessageSample(
      "bare",
      CheckEntitlementRequest(customer: .account("a"), scope: barest, entitlementID: "p")),
    MessageSample(
      "full",
      CheckEntitlementResponse(
        isGranted: true, until: 1_700_000_000_000, nextTransitionAt: 1_690_000_000_000,
        revision: 3)),
    MessageSample(
      "bare",
      CheckEntitlementResponse(isGranted: false, until: nil, nextTransitionAt: nil, revision: 0)),
    MessageSample(
      "full", ListCustomersRequest(scope: scope, pageSize: 200, pageToken: "after:émile")),
    MessageSample("bare", ListCustomersRequest(scope: barest)),
    MessageSample(
      "full", ListCustomersResponse(customers: [.full, .bare], nextPageToken: "after:z")),
    MessageSample("bare", ListCustomersResponse(customers: [], nextPageToken: nil)),
  ]

  private static let writes: [MessageSample] = [
    MessageSample(
      "full",
      SubmitSignedTransactionsRequest(
        signedPayloads: ["e30.e30.AA", "e30.e31.AB"], bundleID: "com.example.scribe",
        accountID: "account-1")),
    MessageSample("bare", SubmitSignedTransactionsRequest(signedPayloads: ["e"])),
    MessageSample(
      "full", SubmitSignedTransactionsResponse(results: results, customers: customers)),
    MessageSample("bare", SubmitSignedTransactionsResponse(results: [], customers: [])),
    MessageSample(
      "full", SubmitNotificationRequest(signedPayload: "e30.e30.AA", accountID: "account-1")),
    MessageSample("bare", SubmitNotificationRequest(signedPayload: "e")),
    MessageSample(
      "full",
      SubmitNotificationResponse(
        verdict: .ok, detail: "détail", notificationUUID: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
        notificationType: "DID_RENEW", subtype: "BILLING_RECOVERY", isDuplicate: true,
        results: results, customers: customers, events: events)),
    MessageSample("bare", SubmitNotificationResponse(verdict: .unrecognized)),
  ]

  private static let results: [SubmittedItemResult] = [
    SubmittedItemResult(
      verdict: .ok, kind: .transaction, disposition: .superseded,
      originalTransactionID: "2000000000000001", transactionID: "2000000000000002",
      link: .alreadyLinked),
    SubmittedItemResult(verdict: .wrongEnvironment, detail: "signed in Xcode", kind: .renewalInfo),
    SubmittedItemResult(verdict: .unrecognized),
  ]

  private static let customers: [SubmittedCustomer] = [
    SubmittedCustomer(subject: .account("account-1"), scope: scope, revision: 12),
    SubmittedCustomer(subject: .unlinkedChain("2000000000000009"), scope: barest, revision: 13),
  ]
}

extension CustomerState {
  /// A state of nothing: every optional field is absent.
  static let bare = CustomerState(
    scope: MessageSample.barest, accountID: nil, revision: 0, evaluatedAt: 0, coreState: .new,
    callsToAction: [], entitlements: [], products: [], groups: [], nextTransitionAt: nil)

  /// Every field is set. Tests/WireTests/MessageGoldenTests.swift has the same state as text.
  static let full: CustomerState = {
    var standing = Standing(
      coreState: .active, status: .grace, productID: "com.example.scribe.pro",
      productType: .autoRenewable, transactionID: "2000000000000002",
      originalTransactionID: "2000000000000001", periodStart: 1_700_000_000_000,
      firstPurchaseAt: 1_600_000_000_000, callToAction: .fixBilling)
    standing.expirationReason = .billingError
    standing.periodEnd = 1_702_592_000_000
    standing.graceEnd = 1_703_974_400_000
    standing.willRenew = false
    standing.pendingChange = PendingChange(
      productID: "com.example.scribe.basic", effectiveAt: 1_702_592_000_001)
    standing.priceConsent = .accepted
    standing.offer = Offer(
      type: .winBack, identifier: "come-back", discountType: .freeTrial, period: "P1M")
    standing.ownership = .familyShared
    standing.storefront = "FRA"
    standing.revocation = Revocation(
      date: 1_701_000_000_000, reason: .other, type: .refundProrated)
    standing.commitment = Commitment(
      billingPeriodNumber: 3, totalBillingPeriods: 12, expiresDate: 1_730_000_000_000)
    standing.notices = [.renewalOverdue, .inferred]
    standing.renewalOffer = Offer(type: .promotional, identifier: "stay")
    standing.winBackOfferIDs = ["come-back", "come-back-é"]
    let sources = [
      EntitlementSource(
        origin: .purchase(
          "2000000000000002", chain: "2000000000000001", product: "com.example.scribe.pro"),
        since: 1_700_000_000_000, until: 1_703_974_400_000, evidence: .receipt),
      EntitlementSource(
        origin: .grant("7c9e6679-7425-40de-944b-e07fc1f90ae7"), since: 1_700_000_000_001,
        until: nil),
      EntitlementSource(
        origin: .grandfathering("paid_before_2"), since: 0, until: nil,
        evidence: .archivedResponse),
    ]
    return CustomerState(
      scope: MessageSample.scope, accountID: "émile", revision: 42, evaluatedAt: 1_703_000_000_000,
      coreState: .active, callsToAction: [.fixBilling, .consentToPrice],
      entitlements: [EntitlementState(entitlementID: "pro", sources: sources)],
      products: [
        ProductState(
          productID: "com.example.scribe.pro", groupID: "21400001", isInCatalog: true,
          standing: standing)
      ],
      groups: [
        GroupState(
          groupID: "21400001", standing: standing, trialUsed: true, introductoryOfferUsed: true)
      ],
      grandfathering: [
        GrandfatheringState(
          ruleID: "paid_before_2", outcome: .granted, reason: .versionAndDateDisagree,
          isFlagged: true, appTransactionID: "704000000000000001"),
        GrandfatheringState(
          ruleID: "paid_before_3", outcome: .unknown, reason: .noAppTransaction,
          isFlagged: false),
      ],
      nextTransitionAt: 1_703_974_400_000)
  }()
}
