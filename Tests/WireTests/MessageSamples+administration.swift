import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let explanations: [MessageSample] = [
    MessageSample(
      "full",
      ExplainCustomerStateRequest(
        customer: .account("émile"), scope: scope, at: 1_700_000_000_123,
        catalogYAML: "apps: []\n")),
    MessageSample("bare", ExplainCustomerStateRequest(customer: .account("a"), scope: barest)),
    MessageSample("full", ExplainCustomerStateResponse(explanation: .full)),
    MessageSample(
      "bare",
      ExplainCustomerStateResponse(
        explanation: Explanation(state: .bare, entitlements: [], groups: []))),
  ]

  static let administration: [MessageSample] = [
    MessageSample(
      "full",
      AddGrantRequest(
        grantID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: scope, accountID: "émile",
        entitlementID: "pro", starts: 1_700_000_000_000, expires: 1_800_000_000_000,
        reason: "an outage", onBehalfOf: "support")),
    MessageSample(
      "bare",
      AddGrantRequest(
        scope: barest, accountID: "a", entitlementID: "p", reason: "r", onBehalfOf: "o")),
    MessageSample(
      "at the epoch",
      AddGrantRequest(
        scope: barest, accountID: "a", entitlementID: "p", starts: 0, expires: 0, reason: "r",
        onBehalfOf: "o")),
    MessageSample(
      "full",
      WithdrawGrantRequest(
        grantID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: scope, reason: "a mistake",
        onBehalfOf: "support")),
    MessageSample("full", GrantResponse(grant: .full, isChanged: true, revision: 12)),
    MessageSample("bare", GrantResponse(grant: .bare, isChanged: false, revision: 0)),
    MessageSample("full", ListGrantsRequest(scope: scope, accountID: "émile")),
    MessageSample("bare", ListGrantsRequest(scope: barest, accountID: "a")),
    MessageSample("full", ListGrantsResponse(grants: [.full, .bare])),
    MessageSample("bare", ListGrantsResponse(grants: [])),
    MessageSample("bare", GetCatalogRequest()),
    MessageSample("full", ReloadCatalogRequest(isDryRun: true)),
    MessageSample("bare", ReloadCatalogRequest()),
    MessageSample("full", .full as CatalogResponse),
    MessageSample(
      "bare",
      CatalogResponse(
        digest: "", inForceSince: 0, appCount: 0, productCount: 0, entitlementCount: 0,
        grandfatheringRuleCount: 0)),
    MessageSample("full", ListChangesRequest(afterSequence: 41, pageSize: 1_000)),
    MessageSample("bare", ListChangesRequest()),
    MessageSample("full", ListChangesResponse(changes: changes)),
    MessageSample("bare", ListChangesResponse(changes: [])),
    MessageSample("bare", GetStatisticsRequest()),
    MessageSample(
      "full",
      GetStatisticsResponse(
        counters: [
          StatisticsCounter(name: "notifications.unknown_type", value: 3),
          StatisticsCounter(name: "connections.open", value: -1),
        ], version: "0.1.0")),
    MessageSample("bare", GetStatisticsResponse(counters: [])),
    MessageSample("bare", GetServerRequest()),
    MessageSample(
      "full",
      GetServerResponse(
        version: "0.1.0", nodeName: "node-1", storeKind: .postgresql, catalogDigest: "00ff",
        warnings: ["first", "second"])),
    MessageSample("bare", GetServerResponse(version: "0.1.0", nodeName: "n")),
  ]

  static let events: [FeedEvent] = [
    FeedEvent(
      kind: .refetchDue, notificationUUID: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
      originalTransactionID: "2000000000000001", transactionID: "2000000000000002",
      deadline: 1_700_043_200_000, refetchReason: .statusMismatch, detail: "ACTIVE is EXPIRED"),
    FeedEvent(kind: .consumptionRequested, notificationUUID: "u"),
  ]

  static let changes: [ChangeEntry] = [
    ChangeEntry(
      sequence: 42, scope: scope, subject: .account("émile"), committedAt: 1_700_000_000_000,
      hasFacts: true, isLinked: true, isUnlinked: true, hasGrants: true, events: events,
      isMerged: true, isDeleted: true),
    ChangeEntry(
      sequence: 43, scope: barest, subject: .unlinkedChain("2000000000000001"), committedAt: 0,
      isUnlinked: true),
    ChangeEntry(sequence: 44, scope: barest, subject: nil, committedAt: 1, events: [events[1]]),
  ]
}

extension Explanation {
  /// Every field is set, and each optional field is also absent once.
  static let full: Explanation = {
    let reasoning = Reasoning(
      decision: Decision(rule: 19, sentence: "The grâce period runs."),
      considered: [
        ConsideredItem(
          kind: .transaction, identifier: "2000000000000002",
          productID: "com.example.scribe.pro", statedAt: 1_700_000_000_000, isDecisive: true,
          decision: Decision(rule: 19, sentence: "It is in grace.")),
        ConsideredItem(
          kind: .grandfatheringRule, identifier: "paid_before_2", isDecisive: false,
          decision: Decision(rule: 37, sentence: "Nothing to say.")),
      ],
      changes: [
        ExpectedChange(
          at: 1_703_974_400_000, decision: Decision(rule: 20, sentence: "Grace ends.")),
        ExpectedChange(at: nil, decision: Decision(rule: 3, sentence: "A renewal comes.")),
      ],
      consideredOmitted: 9_950, changesCompleteUntil: 1_800_000_000_000)
    let undecided = Reasoning(
      decision: Decision(rule: Rule(0), sentence: ""), considered: [], changes: [])
    return Explanation(
      state: .full,
      entitlements: [
        EntitlementExplanation(entitlementID: "pro", isConferred: true, reasoning: reasoning),
        EntitlementExplanation(entitlementID: "team", isConferred: false, reasoning: undecided),
      ],
      groups: [GroupExplanation(groupID: "21400001", status: .grace, reasoning: reasoning)],
      omitted: ExplanationOmissions(
        entitlements: 1, groups: 9_500, products: 3, stateEntitlements: 4, sources: 96_000,
        grandfathering: 6))
  }()
}

extension Grant {
  static let full = Grant(
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: MessageSample.scope, accountID: "émile",
    entitlementID: "pro", starts: 1_700_000_000_000, expires: 1_800_000_000_000,
    reason: "an outage", author: "support", onBehalfOf: "ada", createdAt: 1_699_999_999_999,
    withdrawal: GrantWithdrawal(
      at: 1_710_000_000_000, author: "billing", onBehalfOf: "grace", reason: "a mistake"))

  static let bare = Grant(
    id: "", scope: MessageSample.barest, accountID: "", entitlementID: "", starts: 0, reason: "",
    author: "", createdAt: 0)
}

extension CatalogResponse {
  static let full: CatalogResponse = {
    let error = FileIssue(
      severity: .error, line: 12, column: 5, field: "products[2].duration",
      message: "“1M” is not allowed")
    let warning = FileIssue(severity: .warning, line: 1, column: 1, field: "", message: "m")
    return CatalogResponse(
      digest: "9f86d081", inForceSince: 1_700_000_000_000, appCount: 1, productCount: 2_000,
      entitlementCount: 3, grandfatheringRuleCount: 4, warnings: [warning],
      lastAttempt: CatalogAttempt(
        at: 1_700_000_000_001, isValid: false, digest: "60303ae2", issues: [error, warning],
        failure: "the file cannot be read"))
  }()
}
