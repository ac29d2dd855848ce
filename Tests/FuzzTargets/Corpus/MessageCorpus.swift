import CatalogFiles
import EntitlementDomain
import StoreSimulator
import Wire

/// Seeds of ``MessageProbe``: requests about simulated customers, and their responses.
enum MessageCorpus {
  static func seeds(_ customers: [CorpusCustomer]) -> [FuzzSeed] {
    messages(customers).flatMap(\.seeds)
  }

  /// The same messages as JSON, for ``MessageJSONProbe``.
  static func jsonSeeds(_ customers: [CorpusCustomer]) -> [FuzzSeed] {
    messages(customers).flatMap(\.jsonSeeds)
  }

  private static func messages(_ customers: [CorpusCustomer]) -> [Messages] {
    [requests, writes, outcomes, administration, access]
      + LinkMessageCorpus.messages(scope: scope, events: events)
      + customers.map { answers(about: $0) }
  }

  struct Messages {
    private(set) var seeds: [FuzzSeed] = []
    private(set) var jsonSeeds: [FuzzSeed] = []

    mutating func add<Message: WireMessage>(_ message: Message, _ variant: String = "") {
      let name = "\(Message.self)" + (variant.isEmpty ? "" : "-\(variant)")
      if let input = MessageProbe.input(message) { seeds.append(FuzzSeed(name, input)) }
      if let input = MessageJSONProbe.input(message) { jsonSeeds.append(FuzzSeed(name, input)) }
    }
  }

  private static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)
  private static let uuid = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

  private static var requests: Messages {
    var messages = Messages()
    messages.add(
      GetCustomerStateRequest(
        customer: .account("a"), scope: scope, consistency: .atLeastAsFresh(revision: 7),
        at: 1_704_067_200_000, ifRevisionDiffers: 41))
    messages.add(
      BatchGetCustomerStateRequest(
        customers: [
          .account("a"), .originalTransaction("1"), .transaction("2"), .appTransaction("3"),
          .appAccountToken(AppAccountToken(uuid)),
        ], scope: scope, consistency: .fullyConsistent, at: -1))
    messages.add(
      CheckEntitlementRequest(
        customer: .originalTransaction("1"), scope: scope, entitlementID: "pro", at: 0))
    messages.add(
      ExplainCustomerStateRequest(
        customer: .transaction("2"), scope: scope, at: 1, catalogYAML: "apps: []\n"))
    messages.add(ListCustomersRequest(scope: scope, pageSize: 200, pageToken: "after:a"))
    messages.add(HealthCheckRequest(service: ServiceNames.entitlements))
    messages.add(
      HealthCheckResponse(
        status: .serving, version: "0.1.0", needsCredentials: true,
        developmentClock: 1_772_366_400_123))
    return messages
  }

  private static var writes: Messages {
    var messages = Messages()
    messages.add(
      SubmitSignedTransactionsRequest(
        signedPayloads: ["e30.e30.AA", "e30.e31.AB"], bundleID: scope.bundleID, accountID: "a",
        priority: .bulk))
    messages.add(SubmitNotificationRequest(signedPayload: "e30.e30.AA", accountID: "a"))
    messages.add(
      SubmitReceiptRequest(
        receipt: Array("MIIB".utf8), bundleID: scope.bundleID, accountID: "a",
        deviceIdentifier: [1, 2, 3], priority: .bulk))
    messages.add(
      ImportArchivedResponseRequest(
        bundleID: scope.bundleID, environment: .sandbox, accountID: "a",
        response: Array("{}".utf8), asOf: 1))
    return messages
  }

  private static var outcomes: Messages {
    let results = [
      SubmittedItemResult(
        verdict: .ok, kind: .transaction, disposition: .superseded, originalTransactionID: "1",
        transactionID: "2", link: .alreadyLinked),
      SubmittedItemResult(verdict: .wrongEnvironment, detail: "détail", kind: .renewalInfo),
      SubmittedItemResult(verdict: .unrecognized),
    ]
    let customers = [
      SubmittedCustomer(subject: .account("a"), scope: scope, revision: 12),
      SubmittedCustomer(subject: .unlinkedChain("1"), scope: scope, revision: 13),
    ]
    var messages = Messages()
    messages.add(SubmitSignedTransactionsResponse(results: results, customers: customers))
    messages.add(
      SubmitNotificationResponse(
        verdict: .ok, notificationUUID: NotificationUUID(uuid), notificationType: "DID_RENEW",
        subtype: "BILLING_RECOVERY", isDuplicate: true, results: results, customers: customers,
        events: events))
    messages.add(
      SubmitReceiptResponse(
        verdict: .ok,
        receipt: ReceiptSummary(
          receiptType: "Production", scope: scope, creationDate: 1_704_067_200_000,
          applicationVersion: "2", originalApplicationVersion: "1", originalPurchaseDate: 1,
          expirationDate: 2, inAppCount: 187), results: results, customers: customers))
    return messages
  }

  private static let events = [
    FeedEvent(
      kind: .refetchDue, notificationUUID: NotificationUUID(uuid), originalTransactionID: "1",
      transactionID: "2", deadline: 1_700_043_200_000, refetchReason: .statusMismatch,
      detail: "ACTIVE is EXPIRED"),
    FeedEvent(kind: .consumptionRequested, notificationUUID: "u"),
  ]

  private static var administration: Messages {
    let grant = Grant(
      id: GrantID(uuid), scope: scope, accountID: "a", entitlementID: "pro", starts: 1, expires: 2,
      reason: "an outage", author: "support", onBehalfOf: "a", createdAt: 0,
      withdrawal: GrantWithdrawal(at: 1, author: "billing", onBehalfOf: "b", reason: "a mistake"))
    let issue = FileIssue(
      severity: .error, line: 12, column: 5, field: "products[2].duration", message: "wrong")
    var messages = Messages()
    messages.add(
      AddGrantRequest(
        grantID: grant.id, scope: scope, accountID: "a", entitlementID: "pro", starts: 0,
        expires: 1, reason: "r", onBehalfOf: "o"))
    messages.add(
      WithdrawGrantRequest(grantID: grant.id, scope: scope, reason: "r", onBehalfOf: "o"))
    messages.add(GrantResponse(grant: grant, isChanged: true, revision: 12))
    messages.add(ListGrantsRequest(scope: scope, accountID: "a"))
    messages.add(ListGrantsResponse(grants: [grant, grant]))
    messages.add(GetCatalogRequest())
    messages.add(ReloadCatalogRequest(isDryRun: true))
    messages.add(
      CatalogResponse(
        digest: "9f86d081", inForceSince: 1, appCount: 1, productCount: 2_000,
        entitlementCount: 3, grandfatheringRuleCount: 4, warnings: [issue],
        lastAttempt: CatalogAttempt(
          at: 1, isValid: false, digest: "60303ae2", issues: [issue], failure: "unreadable")))
    messages.add(ListChangesRequest(afterSequence: 41, pageSize: 1_000))
    messages.add(
      ListChangesResponse(changes: [
        ChangeEntry(
          sequence: 42, scope: scope, subject: .account("a"), committedAt: 1, hasFacts: true,
          isLinked: true, isUnlinked: true, hasGrants: true, events: events, isMerged: true,
          isDeleted: true)
      ]))
    messages.add(GetStatisticsRequest())
    messages.add(
      GetStatisticsResponse(
        counters: [StatisticsCounter(name: "submissions", value: -1)], version: "0.1.0"))
    messages.add(GetServerRequest())
    messages.add(
      GetServerResponse(
        version: "0.1.0", nodeName: "node-1", storeKind: .sqlite, catalogDigest: "00",
        warnings: ["w"]))
    return messages
  }

  private static var access: Messages {
    let app = PermittedApp(bundleID: scope.bundleID, environments: [.production, .sandbox])
    let limits = CallerLimits(
      readsPerSecond: 5_000, expensiveReadsPerSecond: 10, submissionsPerSecond: 300,
      inFlight: 200, connections: 16)
    let issue = FileIssue(
      severity: .error, line: 12, column: 5, field: "callers[1].name", message: "named twice")
    var messages = Messages()
    messages.add(WhoAmIRequest())
    messages.add(
      WhoAmIResponse(
        name: "billing", proof: .token, tokenID: "k3Jd8sQz", tokenExpires: 1,
        roles: ["submitter"], permissions: [.read, .submit], hasAllApps: false, apps: [app],
        limits: limits))
    messages.add(GetCredentialsRequest())
    messages.add(ReloadCredentialsRequest(isDryRun: true, onBehalfOf: "o"))
    messages.add(
      CredentialsResponse(
        isEnabled: true, digest: "9f86d081", inForceSince: 1,
        callers: [
          CallerEntry(
            name: "billing", roles: ["submitter"], permissions: [.read, .submit], apps: [app],
            tokens: [CallerToken(id: "k3Jd8sQz", expires: 1), CallerToken(id: "p0Lm2xYw")],
            certificates: ["spiffe://example.com/billing"], users: ["1001"], limits: limits)
        ], warnings: [issue],
        lastAttempt: CredentialsAttempt(
          at: 1, isValid: false, digest: "60303ae2", issues: [issue], failure: "unreadable")))
    return messages
  }

  /// Responses about a simulated customer.
  private static func answers(about customer: CorpusCustomer) -> Messages {
    var messages = Messages()
    guard let catalog = try? CatalogFile.parse(SimulatedApp.catalogYAML).catalog else {
      return messages
    }
    let explanation = Evaluation.explain(customer.record, catalog: catalog, at: customer.moment)
    messages.add(ExplainCustomerStateResponse(explanation: explanation), customer.name)
    let state = Evaluation.state(of: customer.record, catalog: catalog, at: customer.moment)
    messages.add(GetCustomerStateResponse.state(state), customer.name)
    messages.add(
      BatchGetCustomerStateResponse(results: [.state(state), .notModified(revision: 9)]),
      customer.name)
    messages.add(
      ListCustomersResponse(customers: [state], nextPageToken: "after:a"), customer.name)
    messages.add(
      CheckEntitlementResponse(
        isGranted: !state.entitlements.isEmpty,
        until: state.entitlements.first?.sources.first?.until,
        nextTransitionAt: state.nextTransitionAt, revision: state.revision), customer.name)
    messages.add(
      WatchCustomerStatesResponse(
        cursor: "43",
        change: CustomerChange(
          sequence: 43, scope: scope, subject: .account("a"), committedAt: 1,
          kinds: [.facts, .linked, .events], events: events, state: state)), customer.name)
    return messages
  }
}
