import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let links: [MessageSample] = [
    MessageSample(
      "full",
      ResolveAccountRequest(customer: .originalTransaction("2000000000000001"), scope: scope)),
    MessageSample("bare", ResolveAccountRequest(customer: .account("a"), scope: barest)),
    MessageSample(
      "account", ResolveAccountResponse(subject: .account("émile"), revision: 12)),
    MessageSample(
      "chain", ResolveAccountResponse(subject: .unlinkedChain("2000000000000001"), revision: -1)),
    MessageSample("bare", ResolveAccountResponse(subject: nil, revision: 0)),
    MessageSample(
      "full",
      LinkAccountRequest(
        scope: scope, target: .chain("2000000000000001"), accountID: "émile",
        reason: "a lost receipt", onBehalfOf: "support")),
    MessageSample(
      "bare",
      LinkAccountRequest(
        scope: barest, target: .appTransaction("7"), accountID: "a", reason: "r", onBehalfOf: "o")),
    MessageSample(
      "full",
      UnlinkAccountRequest(
        scope: scope, target: .appTransaction("704000000000000001"), reason: "a mistake",
        onBehalfOf: "support")),
    MessageSample(
      "bare",
      UnlinkAccountRequest(scope: barest, target: .chain("1"), reason: "r", onBehalfOf: "o")),
    MessageSample(
      "full",
      TransferPurchaseRequest(
        scope: scope, target: .chain("2000000000000001"), fromAccountID: "émile",
        toAccountID: "zoé", reason: "a new sign-in", onBehalfOf: "support")),
    MessageSample(
      "bare",
      TransferPurchaseRequest(
        scope: barest, target: .chain("1"), toAccountID: "b", reason: "r", onBehalfOf: "o")),
    MessageSample(
      "full",
      MergeAccountsRequest(
        scope: scope, fromAccountID: "émile", intoAccountID: "zoé", reason: "one person",
        onBehalfOf: "support")),
    MessageSample("full", bindAccountToken),
    MessageSample(
      "bare",
      BindAccountTokenRequest(scope: barest, appAccountToken: "t", reason: "r", onBehalfOf: "o")),
    MessageSample("full", listAccountTokens),
    MessageSample("bare", ListAccountTokensRequest(scope: barest)),
    MessageSample("full", accountTokens),
    MessageSample("bare", ListAccountTokensResponse(tokens: [], nextPageToken: nil)),
    MessageSample("full", linkResponse),
    MessageSample("bare", LinkResponse(isChanged: false, targets: [], customers: [])),
    MessageSample("full", ListLinksRequest(scope: scope, accountID: "émile")),
    MessageSample("bare", ListLinksRequest(scope: barest, accountID: "a")),
    MessageSample("full", ListLinksResponse(links: accountLinks)),
    MessageSample("bare", ListLinksResponse(links: [])),
    MessageSample(
      "chain",
      GetLinkHistoryRequest(scope: scope, subject: .target(.chain("2000000000000001")))),
    MessageSample(
      "app transaction",
      GetLinkHistoryRequest(scope: scope, subject: .target(.appTransaction("7")))),
    MessageSample("bare", GetLinkHistoryRequest(scope: barest, subject: .account("a"))),
    MessageSample("full", GetLinkHistoryResponse(events: linkHistory)),
    MessageSample("bare", GetLinkHistoryResponse(events: [])),
  ]

  /// History, export and deletion of a customer, and unlinked chains.
  static let records: [MessageSample] = [
    MessageSample("full", GetCustomerHistoryRequest(scope: scope, accountID: "émile")),
    MessageSample("bare", GetCustomerHistoryRequest(scope: barest, accountID: "a")),
    MessageSample(
      "full", GetCustomerHistoryResponse(accountID: "émile", entries: customerHistory)),
    MessageSample("bare", GetCustomerHistoryResponse(accountID: "", entries: [])),
    MessageSample("full", ExportCustomerRequest(scope: scope, accountID: "émile")),
    MessageSample("bare", ExportCustomerRequest(scope: barest, accountID: "a")),
    // A piece may end inside a character.
    MessageSample("full", ExportedPiece(json: Array(#"{"a":""#.utf8) + [0xc3])),
    MessageSample("bare", ExportedPiece(json: [])),
    MessageSample(
      "full",
      DeleteCustomerRequest(
        scope: scope, accountID: "émile", reason: "asked to be forgotten", onBehalfOf: "support")),
    MessageSample(
      "full", ListUnlinkedChainsRequest(scope: scope, pageSize: 1_000, pageToken: "after:é")),
    MessageSample("bare", ListUnlinkedChainsRequest(scope: barest)),
    MessageSample(
      "full", ListUnlinkedChainsResponse(chains: unlinkedChains, nextPageToken: "after:2")),
    MessageSample("bare", ListUnlinkedChainsResponse(chains: [], nextPageToken: nil)),
    MessageSample("full", ListNotificationsRequest.full),
    MessageSample("bare", ListNotificationsRequest()),
    MessageSample("full", ListNotificationsResponse.full),
    MessageSample("bare", ListNotificationsResponse(notifications: [], nextPageToken: nil)),
  ]

  static let watches: [MessageSample] = [
    MessageSample("full", watchRequest),
    MessageSample("bare", WatchCustomerStatesRequest()),
    MessageSample(
      "from the beginning",
      WatchCustomerStatesRequest(cursor: WatchCustomerStatesRequest.beginning)),
    MessageSample(
      "full", WatchCustomerStatesResponse(cursor: "43", change: customerChanges[0])),
    MessageSample(
      "chain", WatchCustomerStatesResponse(cursor: "44", change: customerChanges[1])),
    MessageSample(
      "nobody", WatchCustomerStatesResponse(cursor: "45", change: customerChanges[2])),
    MessageSample("cursor alone", WatchCustomerStatesResponse(cursor: "46")),
    MessageSample("bare", WatchCustomerStatesResponse(cursor: "")),
  ]

  static let bindAccountToken = BindAccountTokenRequest(
    scope: scope, appAccountToken: "aaaaaaaa-0000-4000-8000-000000000001", accountID: "émile",
    reason: "a ticket", onBehalfOf: "support")

  static let listAccountTokens = ListAccountTokensRequest(
    scope: scope, accountID: "émile", pageSize: 1_000, pageToken: "after:é")

  static let accountTokens = ListAccountTokensResponse(
    tokens: [
      AccountToken(
        appAccountToken: "aaaaaaaa-0000-4000-8000-000000000001", state: .bound,
        accountID: "émile", author: "support", reason: "a ticket", since: 1_700_000_000_000,
        onBehalfOf: "ada"),
      AccountToken(
        appAccountToken: "t", state: .ambiguous, accountID: nil, author: nil, reason: nil,
        since: nil, onBehalfOf: nil),
    ], nextPageToken: "after:t")

  static let linkResponse = LinkResponse(
    isChanged: true, targets: [.chain("2000000000000001"), .appTransaction("704000000000000001")],
    customers: [
      SubmittedCustomer(subject: .account("émile"), scope: scope, revision: 12),
      SubmittedCustomer(subject: .unlinkedChain("2000000000000009"), scope: scope, revision: 13),
    ])

  static let accountLinks: [AccountLink] = [
    AccountLink(
      target: .chain("2000000000000001"), since: 1_700_000_000_000, reason: .imported,
      isUnsigned: true),
    AccountLink(target: .appTransaction("7"), since: 0, reason: nil),
  ]

  static let linkHistory: [LinkHistoryEntry] = [
    LinkHistoryEntry(
      target: .chain("2000000000000001"), at: 1_700_000_000_000, fromAccountID: "émile",
      toAccountID: "zoé", reason: .transferred, author: "support", note: "a new sign-in",
      onBehalfOf: "ada", tokenID: "k3Jd8sQz", traceID: "0af7651916cd43dd8448eb211c80319c"),
    LinkHistoryEntry(
      target: .appTransaction("7"), at: 1, isFromDeleted: true, isToDeleted: true,
      reason: .appAccountToken),
    LinkHistoryEntry(target: .chain("1"), at: 0, reason: nil),
  ]

  static let customerHistory: [CustomerHistoryEntry] = [
    CustomerHistoryEntry(at: 1_700_000_000_000, occurrence: .link(linkHistory[0])),
    CustomerHistoryEntry(at: 1, occurrence: .grant(.bare)),
    CustomerHistoryEntry(at: 0, occurrence: .grantWithdrawal(.full)),
    CustomerHistoryEntry(
      at: -1,
      occurrence: .notification(
        NotificationEntry(
          notificationUUID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", type: "DID_RENEW",
          subtype: "BILLING_RECOVERY", signedDate: 1_699_999_999_999))),
    CustomerHistoryEntry(
      at: 2, occurrence: .notification(NotificationEntry(notificationUUID: "", type: ""))),
    CustomerHistoryEntry(
      at: 3,
      occurrence: .notification(
        NotificationEntry(notificationUUID: "u", type: "TEST", signedDate: 0))),
  ]

  static let unlinkedChains: [UnlinkedChainEntry] = [
    UnlinkedChainEntry(
      originalTransactionID: "2000000000000001", revision: 12, changedAt: 1_700_000_000_000),
    UnlinkedChainEntry(originalTransactionID: "2", revision: 0, changedAt: 0),
  ]

  static let watchRequest = WatchCustomerStatesRequest(
    cursor: "42", bundleID: scope.bundleID, environment: scope.environment,
    accountIDs: ["émile", "zoé"], kinds: [.deleted, .facts], isWithoutStates: true)

  static let customerChanges: [CustomerChange] = [
    CustomerChange(
      sequence: 43, scope: scope, subject: .account("émile"), committedAt: 1_700_000_000_000,
      kinds: Set(ChangeKind.allCases), events: events, state: .full),
    CustomerChange(
      sequence: 44, scope: barest, subject: .unlinkedChain("2000000000000001"), committedAt: 0,
      kinds: [.unlinked], state: .bare),
    CustomerChange(
      sequence: 45, scope: barest, subject: nil, committedAt: 1, kinds: [.events],
      events: [events[1]]),
  ]
}

extension ListNotificationsRequest {
  static let full = ListNotificationsRequest(
    bundleID: "com.example.scribe", environment: .sandbox, notificationType: "TEST",
    since: 1_700_000_000_000, pageSize: 1_000, pageToken: "1700000000001:é")
}

extension ListNotificationsResponse {
  /// Every field is set, and each optional field is also absent once.
  static let full = ListNotificationsResponse(
    notifications: [
      ReceivedNotificationEntry(
        notificationUUID: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
        notificationType: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED",
        scope: MessageSample.scope, signedDate: 1_700_000_000_000, receivedAt: 1_700_000_000_123,
        originalTransactionID: "2000000000000001", status: 1),
      ReceivedNotificationEntry(notificationUUID: "u", notificationType: "TEST", receivedAt: 0),
    ], nextPageToken: "1700000000123:u")
}
