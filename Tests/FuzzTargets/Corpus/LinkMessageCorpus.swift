import EntitlementDomain
import Wire

/// Seeds of ``MessageProbe``: messages about links, histories, watches, jobs and consumption.
/// Seeds of ``MessageProbe``: messages about links, histories, watches, jobs and offers.
/// Seeds of ``MessageProbe``: messages about links, histories, watches, jobs and imports.
enum LinkMessageCorpus {
  static func messages(scope: AppScope, events: [FeedEvent]) -> [MessageCorpus.Messages] {
    [
      links(scope), records(scope), watches(scope, events), audits(scope), jobs(scope),
      appStore(scope),
      consumption(scope),
      offers(scope),
      imports(scope),
    ]
  }

  private static func links(_ scope: AppScope) -> MessageCorpus.Messages {
    var messages = MessageCorpus.Messages()
    messages.add(ResolveAccountRequest(customer: .transaction("2"), scope: scope))
    messages.add(ResolveAccountResponse(subject: .account("a"), revision: 12), "account")
    messages.add(ResolveAccountResponse(subject: .unlinkedChain("1"), revision: 12), "chain")
    messages.add(
      LinkAccountRequest(
        scope: scope, target: .chain("1"), accountID: "a", reason: "r", onBehalfOf: "o"))
    messages.add(
      UnlinkAccountRequest(scope: scope, target: .appTransaction("7"), reason: "r", onBehalfOf: "o")
    )
    messages.add(
      TransferPurchaseRequest(
        scope: scope, target: .chain("1"), fromAccountID: "a", toAccountID: "b", reason: "r",
        onBehalfOf: "o"))
    messages.add(
      MergeAccountsRequest(
        scope: scope, fromAccountID: "a", intoAccountID: "b", reason: "r", onBehalfOf: "o"))
    messages.add(
      LinkResponse(
        isChanged: true, targets: [.chain("1"), .appTransaction("7")],
        customers: [
          SubmittedCustomer(subject: .account("a"), scope: scope, revision: 12),
          SubmittedCustomer(subject: .unlinkedChain("1"), scope: scope, revision: 13),
        ]))
    messages.add(
      BindAccountTokenRequest(
        scope: scope, appAccountToken: "t", accountID: "a", reason: "r", onBehalfOf: "o"))
    messages.add(
      ListAccountTokensRequest(scope: scope, accountID: "a", pageSize: 2, pageToken: "t"))
    messages.add(
      ListAccountTokensResponse(
        tokens: [
          AccountToken(
            appAccountToken: "t", state: .bound, accountID: "a", author: "o", reason: "r", since: 1,
            onBehalfOf: "b")
        ], nextPageToken: "t"))
    messages.add(ListLinksRequest(scope: scope, accountID: "a"))
    messages.add(
      ListLinksResponse(links: [
        AccountLink(target: .chain("1"), since: 1, reason: .imported, isUnsigned: true),
        AccountLink(target: .appTransaction("7"), since: 2, reason: .appTransaction),
      ]))
    messages.add(GetLinkHistoryRequest(scope: scope, subject: .target(.chain("1"))), "chain")
    messages.add(GetLinkHistoryRequest(scope: scope, subject: .account("a")), "account")
    messages.add(GetLinkHistoryResponse(events: steps))
    return messages
  }

  private static let steps = [
    LinkHistoryEntry(
      target: .chain("1"), at: 1, fromAccountID: "a", toAccountID: "b", reason: .transferred,
      author: "o", note: "r", onBehalfOf: "b", tokenID: "t", traceID: "0"),
    LinkHistoryEntry(
      target: .appTransaction("7"), at: 2, isFromDeleted: true, isToDeleted: true, reason: .deleted),
  ]

  private static func records(_ scope: AppScope) -> MessageCorpus.Messages {
    let grant = Grant(
      id: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: scope, accountID: "a",
      entitlementID: "pro", starts: 1, reason: "r", author: "o", createdAt: 0)
    var messages = MessageCorpus.Messages()
    messages.add(GetCustomerHistoryRequest(scope: scope, accountID: "a"))
    messages.add(
      GetCustomerHistoryResponse(
        accountID: "a",
        entries: [
          CustomerHistoryEntry(at: 1, occurrence: .link(steps[0])),
          CustomerHistoryEntry(at: 2, occurrence: .grant(grant)),
          CustomerHistoryEntry(at: 3, occurrence: .grantWithdrawal(grant)),
          CustomerHistoryEntry(
            at: 4,
            occurrence: .notification(
              NotificationEntry(
                notificationUUID: "u", type: "DID_RENEW", subtype: "BILLING_RECOVERY",
                signedDate: 3))),
        ]))
    messages.add(ExportCustomerRequest(scope: scope, accountID: "a"))
    messages.add(ExportedPiece(json: Array(#"{"account_id":"a"}"#.utf8)))
    messages.add(DeleteCustomerRequest(scope: scope, accountID: "a", reason: "r", onBehalfOf: "o"))
    messages.add(ListUnlinkedChainsRequest(scope: scope, pageSize: 100, pageToken: "after:1"))
    messages.add(
      ListUnlinkedChainsResponse(
        chains: [UnlinkedChainEntry(originalTransactionID: "1", revision: 12, changedAt: 1)],
        nextPageToken: "after:1"))
    messages.add(
      ListNotificationsRequest(
        bundleID: scope.bundleID, environment: scope.environment, notificationType: "TEST",
        since: 1, pageSize: 100, pageToken: "2:u"))
    messages.add(
      ListNotificationsResponse(
        notifications: [
          ReceivedNotificationEntry(
            notificationUUID: "u", notificationType: "DID_RENEW", subtype: "BILLING_RECOVERY",
            scope: scope, signedDate: 1, receivedAt: 2, originalTransactionID: "1", status: 1)
        ], nextPageToken: "2:u"))
    return messages
  }

  private static func audits(_ scope: AppScope) -> MessageCorpus.Messages {
    var messages = MessageCorpus.Messages()
    messages.add(
      ListAuditEntriesRequest(
        app: scope.bundleID.rawValue, appEnvironment: scope.environment.rawValue,
        accountID: "a", method: "AddGrant", author: "o", from: 1, until: 2,
        pageSize: 100, pageToken: "1:c:1", onBehalfOf: "b"))
    messages.add(
      ListAuditEntriesResponse(
        entries: [
          AuditedCallEntry(
            chain: "c", position: 1, node: "n", at: 1, peer: "unix", method: "AddGrant",
            app: "com.example.scribe", appEnvironment: "Sandbox", account: "p", author: "o",
            reason: "r", subject: "s", outcome: "changed", hash: "h", onBehalfOf: "b",
            proof: "token", tokenID: "k3Jd8sQz")
        ], nextPageToken: "1:c:1"))
    messages.add(ListAuditSealsRequest(afterNumber: 1, pageSize: 100))
    messages.add(
      ListAuditSealsResponse(
        seals: [
          AuditSealEntry(
            number: 1, at: 1, node: "n",
            chains: [
              AuditSealedChainEntry(
                chain: "c", position: 2, hash: "h", removedPosition: 1, removedHash: "i")
            ], previousHash: "p", hash: "q")
        ]))
    return messages
  }

  private static func jobs(_ scope: AppScope) -> MessageCorpus.Messages {
    let refetch = JobEntry(
      jobID: 1, kind: .refetch, scope: scope, originalTransactionID: "1", state: .open,
      reasons: [.statusMismatch, .renewalOverdue], openedAt: 1, changedAt: 2, dueAt: 3,
      failures: 4, lastFailure: "f", calls: 5, payloads: 6, added: 7, refused: 8)
    let reconciliation = JobEntry(
      jobID: 2, kind: .reconciliation, scope: scope, state: .done, openedAt: 1, changedAt: 2,
      isRunning: true, failures: 0, since: 3, completeUntil: 4, calls: 5, payloads: 6, added: 7,
      refused: 8)
    var messages = MessageCorpus.Messages()
    messages.add(
      ListJobsRequest(
        bundleID: scope.bundleID, environment: scope.environment, state: .givenUp,
        kind: .reconciliation, originalTransactionID: "1", jobID: 1, pageSize: 100,
        pageToken: "1"))
    messages.add(ListJobsResponse(jobs: [refetch, reconciliation], nextPageToken: "2"))
    messages.add(RetryJobRequest(jobID: 1, onBehalfOf: "b", reason: "r"))
    messages.add(CancelJobRequest(jobID: 1, onBehalfOf: "b", reason: "r"))
    messages.add(
      ReconcileNotificationsRequest(scope: scope, since: 1, onBehalfOf: "b", reason: "r"))
    messages.add(JobResponse(job: reconciliation, isChanged: true))
    return messages
  }

  private static func appStore(_ scope: AppScope) -> MessageCorpus.Messages {
    let payload = AppStorePayload(
      verdict: .ok, kind: .transaction, payload: "{}", signedPayload: "a.b.c",
      stored: SubmittedItemResult(verdict: .ok, kind: .transaction, disposition: .added))
    let refused = AppStorePayload(verdict: .untrustedChain, detail: "d", isOmitted: true)
    let uuid = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    var messages = MessageCorpus.Messages()
    messages.add(GetTransactionRequest(scope: scope, orSandbox: true, transactionID: "1"))
    messages.add(
      ListTransactionsRequest(
        scope: scope, id: "1", start: 1, end: 2, productIDs: ["p"], productTypes: ["CONSUMABLE"],
        subscriptionGroupIDs: ["g"], ownershipType: "PURCHASED", isDescending: true,
        revoked: false, revision: "r", pageSize: 20))
    messages.add(
      GetSubscriptionStatusesRequest(scope: scope, id: "1", statuses: [.active, .expired]))
    messages.add(ListRefundsRequest(scope: scope, id: "1", revision: "r", pageSize: 20))
    messages.add(LookUpOrderRequest(scope: scope, orderID: "M", includesSigned: true))
    messages.add(GetAppTransactionRequest(scope: scope, id: "1", stores: true))
    messages.add(
      AppStorePayloadsResponse(
        scope: scope, payloads: [payload, refused], revision: "r", hasMore: true, orderStatus: 0))
    messages.add(
      GetSubscriptionStatusesResponse(
        scope: scope,
        subscriptions: [
          AppStoreSubscription(
            subscriptionGroupID: "g", originalTransactionID: "1", status: .revoked,
            transaction: payload, renewalInfo: refused)
        ]))
    messages.add(
      ListSentNotificationsRequest(
        scope: scope, start: 1, end: 2, transactionID: "1", notificationType: "TEST",
        notificationSubtype: "s", onlyFailures: true, paginationToken: "5 t", pageSize: 20))
    messages.add(
      SentNotificationsResponse(
        scope: scope,
        notifications: [
          AppStoreNotification(
            notification: payload, payloads: [refused],
            attempts: [AppStoreSendAttempt(attemptedAt: 1, result: "SUCCESS")],
            stored: SubmitNotificationResponse(verdict: .ok))
        ], paginationToken: "5 t"))
    messages.add(RequestTestNotificationRequest(scope: scope, onBehalfOf: "b", reason: "r"))
    messages.add(GetTestNotificationRequest(scope: scope, testNotificationToken: "t"))
    messages.add(
      ExtendRenewalRequest(
        scope: scope, originalTransactionID: "1", extendByDays: 9, extendReasonCode: 1,
        requestIdentifier: "r", isDryRun: true))
    messages.add(
      ExtendAllRenewalsRequest(
        scope: scope, productID: "p", extendByDays: 9, requestIdentifier: "r",
        storefrontCountryCodes: ["USA"]))
    messages.add(GetRenewalExtensionRequest(scope: scope, productID: "p", requestIdentifier: "r"))
    messages.add(
      GetRenewalExtensionResponse(
        scope: scope, productID: "p", requestIdentifier: "r", isComplete: true, completedAt: 1,
        succeeded: 2, failed: 3))
    messages.add(
      SetAppAccountTokenRequest(
        scope: scope, originalTransactionID: "1", appAccountToken: AppAccountToken(uuid)))
    messages.add(FinishTransactionRequest(scope: scope, transactionID: "1", isDryRun: true))
    messages.add(
      AppStoreChangeResponse(
        scope: scope, testNotificationToken: "t", requestIdentifier: "r", renewalDate: 1,
        subscriptionStatus: .active, obstacles: [.freeOffer]))
    return messages
  }

  private static func consumption(_ scope: AppScope) -> MessageCorpus.Messages {
    let consent = ConsumptionConsentEntry(
      isConsented: true, recordedAt: 1, author: "a", onBehalfOf: "b", reason: "r")
    let request = ConsumptionRequestEntry(
      requestID: 1, scope: scope, transactionID: "2", notificationUUID: "u", requestReason: "OTHER",
      requestedAt: 1, answerUntil: 2, state: .notSent, cause: .appleRefused, detail: "d",
      attempts: 3, changedAt: 4, percentage: 5, delivery: .delivered)
    var messages = MessageCorpus.Messages()
    messages.add(
      SetConsumptionConsentRequest(
        scope: scope, accountID: "a", isConsented: true, onBehalfOf: "b", reason: "r"))
    messages.add(SetConsumptionConsentResponse(consent: consent, isChanged: true))
    messages.add(GetConsumptionConsentRequest(scope: scope, accountID: "a"))
    messages.add(GetConsumptionConsentResponse(consent: consent))
    messages.add(
      SetConsumptionPercentageRequest(
        scope: scope, transactionID: "2", percentage: 5, delivery: .undeliveredOther,
        onBehalfOf: "b", reason: "r"))
    messages.add(SetConsumptionPercentageResponse(isChanged: true))
    messages.add(
      ListConsumptionRequestsRequest(
        scope: scope, state: .open, transactionID: "2", pageSize: 100, pageToken: "1"))
    messages.add(ListConsumptionRequestsResponse(requests: [request], nextPageToken: "2"))
    messages.add(
      SendConsumptionRequest(
        scope: scope, transactionID: "2", isDryRun: true, onBehalfOf: "b", reason: "r"))
    messages.add(SendConsumptionResponse(request: request, isChanged: true))
    return messages
  }

  private static func offers(_ scope: AppScope) -> MessageCorpus.Messages {
    let verdict = OfferEligibilityEntry(
      productID: "p", offerID: "o", kind: .promotional, refusal: .usedTooRecently, rule: "R83",
      sentence: "s", situation: .lapsed, uses: 2, eligibleAt: 3)
    var messages = MessageCorpus.Messages()
    messages.add(
      GetOfferEligibilityRequest(customer: .account("a"), scope: scope, productID: "p"))
    messages.add(GetOfferEligibilityResponse(offers: [verdict], revision: 1, evaluatedAt: 2))
    messages.add(
      SignPromotionalOfferRequest(
        customer: .account("a"), scope: scope, productID: "p", offerID: "o", format: .v1,
        appAccountToken: "3f1c8a52-9f0e-4b7d-8a67-5d2e6c90b1f4", transactionID: "1",
        onBehalfOf: "b", reason: "r"))
    messages.add(
      SignIntroductoryOfferEligibilityRequest(
        customer: .appTransaction("1"), scope: scope, productID: "p", decision: .allow,
        transactionID: "1", onBehalfOf: "b", reason: "r"))
    messages.add(
      SignOfferResponse(
        signature: "s", keyID: "k", nonce: "n", timestamp: 1, expiresAt: 2,
        allowsIntroductoryOffer: true, verdict: verdict))
    return messages
  }

  private static func imports(_ scope: AppScope) -> MessageCorpus.Messages {
    let entry = ImportEntry(
      importID: "i", bundleID: scope.bundleID, author: "o", beganAt: 1, lastRow: 2,
      counts: [ImportCount(state: .failed, failure: .conflict, count: 3)])
    var messages = MessageCorpus.Messages()
    messages.add(
      ImportAccountsRequest(
        importID: "i", bundleID: scope.bundleID,
        rows: [
          ImportedAccount(
            row: 1, accountID: "a", transactionID: "1", appAccountToken: "t",
            environment: scope.environment, asksSandboxToo: true)
        ],
        isDryRun: true, onBehalfOf: "b", reason: "r"))
    messages.add(
      ImportAccountsResponse(results: [
        ImportRowResult(row: 1, state: .failed, failure: .refused, detail: "d", isKnown: true)
      ]))
    messages.add(GetImportRequest(importID: "i", bundleID: scope.bundleID))
    messages.add(GetImportResponse(accountImport: entry))
    messages.add(ListImportsRequest(bundleID: scope.bundleID, pageSize: 100, pageToken: "1"))
    messages.add(ListImportsResponse(imports: [entry], nextPageToken: "2"))
    messages.add(
      ListImportRowsRequest(
        importID: "i", state: .done, pageSize: 100, pageToken: "1", bundleID: scope.bundleID))
    messages.add(
      ListImportRowsResponse(
        rows: [
          ImportRowEntry(
            row: 1, accountID: "a", transactionID: "1", appAccountToken: "t",
            environment: scope.environment, state: .waiting, failure: .invalid, detail: "d",
            changedAt: 1, dueAt: 2)
        ], nextPageToken: "2"))
    messages.add(
      ChangeImportRequest(
        importID: "i", action: .retry, onBehalfOf: "b", reason: "r", bundleID: scope.bundleID))
    messages.add(ChangeImportResponse(changedRows: 1, isComplete: true))
    return messages
  }

  private static func watches(_ scope: AppScope, _ events: [FeedEvent]) -> MessageCorpus.Messages {
    var messages = MessageCorpus.Messages()
    messages.add(
      WatchCustomerStatesRequest(
        cursor: "42", bundleID: scope.bundleID, environment: scope.environment,
        accountIDs: ["a", "b"], kinds: Set(ChangeKind.allCases), isWithoutStates: true))
    messages.add(
      WatchCustomerStatesResponse(
        cursor: "43",
        change: CustomerChange(
          sequence: 43, scope: scope, subject: .unlinkedChain("1"), committedAt: 1,
          kinds: [.unlinked, .events], events: events)), "chain")
    messages.add(WatchCustomerStatesResponse(cursor: "43"), "cursor")
    return messages
  }
}
