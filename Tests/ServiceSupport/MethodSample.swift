import EntitlementDomain
package import NIOCore
import Wire

/// A valid request of a method, and what it needs.
package struct MethodSample: Sendable {
  /// What a method asks of the scope.
  package enum Subject: Sendable {
    case app, everything, nothing
    /// The bundle id `com.example.other`, without an environment.
    case otherBundle
  }

  package let name: String
  package let service: String
  package let permission: String
  package let subject: Subject
  package let payload: ByteBuffer
  package let isStream: Bool

  package init(
    name: String, service: String, permission: String, subject: Subject, payload: ByteBuffer,
    isStream: Bool = false
  ) {
    self.name = name
    self.service = service
    self.permission = permission
    self.subject = subject
    self.payload = payload
    self.isStream = isStream
  }

  /// Every method, some more than once.
  package static func all() throws -> [MethodSample] {
    let scope = ServiceBench.scope
    let account = AccountID("matrix")
    let target = LinkTarget.chain("1")
    func method<Request: WireMessage, Response>(
      _ method: WireMethod<Request, Response>, _ permission: String, _ subject: Subject,
      _ request: Request, isStream: Bool = false
    ) throws -> MethodSample {
      MethodSample(
        name: method.name, service: method.service, permission: permission, subject: subject,
        payload: try request.encoded(), isStream: isStream)
    }
    let one = "00000000-0000-4000-8000-000000000001"
    return [
      try method(
        WireMethods.getCustomerState, "read", .app,
        GetCustomerStateRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.batchGetCustomerState, "read", .app,
        BatchGetCustomerStateRequest(customers: [.account(account)], scope: scope)),
      try method(
        WireMethods.checkEntitlement, "read", .app,
        CheckEntitlementRequest(customer: .account(account), scope: scope, entitlementID: "pro")),
      try method(
        WireMethods.explainCustomerState, "list", .app,
        ExplainCustomerStateRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.watchCustomerStates, "read", .app,
        WatchCustomerStatesRequest(bundleID: scope.bundleID, environment: scope.environment),
        isStream: true),
      try method(
        WireMethods.watchCustomerStates, "read", .everything, WatchCustomerStatesRequest(),
        isStream: true),
      try method(WireMethods.listCustomers, "list", .app, ListCustomersRequest(scope: scope)),
      try method(
        WireMethods.submitSignedTransactions, "submit", .nothing,
        SubmitSignedTransactionsRequest(signedPayloads: ["a.b.c"])),
      try method(
        WireMethods.submitNotification, "submit", .nothing,
        SubmitNotificationRequest(signedPayload: "a.b.c")),
      try method(
        WireMethods.submitReceipt, "submit", .nothing, SubmitReceiptRequest(receipt: [1, 2, 3])),
      try method(
        WireMethods.resolveAccount, "list", .app,
        ResolveAccountRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.linkAccount, "link", .app,
        LinkAccountRequest(
          scope: scope, target: target, accountID: account, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.unlinkAccount, "link", .app,
        UnlinkAccountRequest(scope: scope, target: target, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.transferPurchase, "link", .app,
        TransferPurchaseRequest(
          scope: scope, target: target, fromAccountID: "other", toAccountID: account, reason: "r",
          onBehalfOf: "a")),
      try method(
        WireMethods.mergeAccounts, "link", .app,
        MergeAccountsRequest(
          scope: scope, fromAccountID: "other", intoAccountID: account, reason: "r", onBehalfOf: "a"
        )),
      try method(
        WireMethods.listLinks, "list", .app, ListLinksRequest(scope: scope, accountID: account)),
      try method(
        WireMethods.bindAccountToken, "link", .app,
        BindAccountTokenRequest(
          scope: scope, appAccountToken: AppAccountToken(one), accountID: account, reason: "r",
          onBehalfOf: "a")),
      try method(
        WireMethods.listAccountTokens, "list", .app,
        ListAccountTokensRequest(scope: scope, accountID: account)),
      try method(
        WireMethods.getLinkHistory, "list", .app,
        GetLinkHistoryRequest(scope: scope, subject: .target(target))),
      try method(
        WireMethods.addGrant, "grant", .app,
        AddGrantRequest(
          scope: scope, accountID: account, entitlementID: "unknown", reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.withdrawGrant, "grant", .app,
        WithdrawGrantRequest(grantID: GrantID(one), scope: scope, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.listGrants, "list", .app, ListGrantsRequest(scope: scope, accountID: account)),
      try method(WireMethods.getCatalog, "metrics", .nothing, GetCatalogRequest()),
      try method(
        WireMethods.reloadCatalog, "catalog", .everything, ReloadCatalogRequest(isDryRun: true)),
      try method(WireMethods.listChanges, "list", .everything, ListChangesRequest()),
      try method(
        WireMethods.importArchivedResponse, "import", .otherBundle,
        ImportArchivedResponseRequest(bundleID: "com.example.other", response: [1])),
      try method(
        WireMethods.getCustomerHistory, "list", .app,
        GetCustomerHistoryRequest(scope: scope, accountID: account)),
      try method(
        WireMethods.exportCustomer, "export", .app,
        ExportCustomerRequest(scope: scope, accountID: account), isStream: true),
      try method(
        WireMethods.deleteCustomer, "erase", .app,
        DeleteCustomerRequest(scope: scope, accountID: account, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.listUnlinkedChains, "list", .app, ListUnlinkedChainsRequest(scope: scope)),
      try method(
        WireMethods.listNotifications, "list", .app,
        ListNotificationsRequest(bundleID: scope.bundleID, environment: scope.environment)),
      try method(
        WireMethods.listNotifications, "list", .everything,
        ListNotificationsRequest(bundleID: scope.bundleID)),
      try method(
        WireMethods.listNotifications, "list", .everything, ListNotificationsRequest()),
      try method(WireMethods.getStatistics, "metrics", .nothing, GetStatisticsRequest()),
      try method(WireMethods.getServer, "metrics", .nothing, GetServerRequest()),
      try method(
        WireMethods.listAuditEntries, "audit", .everything, ListAuditEntriesRequest()),
      try method(
        WireMethods.listAuditEntries, "audit", .app,
        ListAuditEntriesRequest(app: scope.bundleID.rawValue)),
      try method(WireMethods.listAuditSeals, "audit", .everything, ListAuditSealsRequest()),
      try method(
        WireMethods.listJobs, "list", .app,
        ListJobsRequest(bundleID: scope.bundleID, environment: scope.environment)),
      try method(
        WireMethods.listJobs, "list", .everything, ListJobsRequest(bundleID: scope.bundleID)),
      try method(WireMethods.listJobs, "list", .everything, ListJobsRequest(state: .open)),
      // The app of a job is compared when it is found.
      try method(WireMethods.listJobs, "list", .nothing, ListJobsRequest(jobID: 1)),
      try method(WireMethods.retryJob, "jobs", .nothing, RetryJobRequest(jobID: 1)),
      try method(WireMethods.cancelJob, "jobs", .nothing, CancelJobRequest(jobID: 1)),
      try method(
        WireMethods.reconcileNotifications, "jobs", .app,
        ReconcileNotificationsRequest(scope: scope, since: ServiceBench.now)),
      try method(
        WireMethods.getTransaction, "app_store", .app,
        GetTransactionRequest(scope: scope, transactionID: "1")),
      try method(
        WireMethods.listTransactions, "app_store", .app,
        ListTransactionsRequest(scope: scope, id: "1")),
      try method(
        WireMethods.getSubscriptionStatuses, "app_store", .app,
        GetSubscriptionStatusesRequest(scope: scope, id: "1")),
      try method(
        WireMethods.listRefunds, "app_store", .app, ListRefundsRequest(scope: scope, id: "1")),
      try method(
        WireMethods.lookUpOrder, "app_store", .app,
        LookUpOrderRequest(scope: scope, orderID: "MX1")),
      try method(
        WireMethods.getAppTransaction, "app_store", .app,
        GetAppTransactionRequest(scope: scope, id: "1")),
      try method(
        WireMethods.listSentNotifications, "app_store", .app,
        ListSentNotificationsRequest(scope: scope, start: 0)),
      try method(
        WireMethods.requestTestNotification, "app_store", .app,
        RequestTestNotificationRequest(scope: scope)),
      try method(
        WireMethods.getTestNotification, "app_store", .app,
        GetTestNotificationRequest(scope: scope, testNotificationToken: "t")),
      try method(
        WireMethods.extendRenewal, "app_store", .app,
        ExtendRenewalRequest(
          scope: scope, originalTransactionID: "1", extendByDays: 1, requestIdentifier: "r")),
      try method(
        WireMethods.extendAllRenewals, "app_store", .app,
        ExtendAllRenewalsRequest(
          scope: scope, productID: "p", extendByDays: 1, requestIdentifier: "r")),
      try method(
        WireMethods.getRenewalExtension, "app_store", .app,
        GetRenewalExtensionRequest(scope: scope, productID: "p", requestIdentifier: "r")),
      try method(
        WireMethods.setAppAccountToken, "app_store", .app,
        SetAppAccountTokenRequest(
          scope: scope, originalTransactionID: "1", appAccountToken: AppAccountToken(one))),
      try method(
        WireMethods.finishTransaction, "app_store", .app,
        FinishTransactionRequest(scope: scope, transactionID: "1")),
      try method(
        WireMethods.setConsumptionConsent, "consumption", .app,
        SetConsumptionConsentRequest(scope: scope, accountID: "a", isConsented: true)),
      try method(
        WireMethods.getConsumptionConsent, "consumption", .app,
        GetConsumptionConsentRequest(scope: scope, accountID: "a")),
      try method(
        WireMethods.setConsumptionPercentage, "consumption", .app,
        SetConsumptionPercentageRequest(scope: scope, transactionID: "2", percentage: 0)),
      try method(
        WireMethods.listConsumptionRequests, "list", .app,
        ListConsumptionRequestsRequest(scope: scope)),
      try method(
        WireMethods.sendConsumption, "consumption", .app,
        SendConsumptionRequest(scope: scope, transactionID: "2", isDryRun: true)),
      try method(
        WireMethods.getOfferEligibility, "offers", .app,
        GetOfferEligibilityRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.signPromotionalOffer, "offers", .app,
        SignPromotionalOfferRequest(
          customer: .account(account), scope: scope, productID: "p", offerID: "o")),
      try method(
        WireMethods.signIntroductoryOfferEligibility, "offers", .app,
        SignIntroductoryOfferEligibilityRequest(
          customer: .account(account), scope: scope, productID: "p")),
      try method(
        WireMethods.importAccounts, "import", .otherBundle,
        ImportAccountsRequest(
          importID: "i", bundleID: "com.example.other",
          rows: [
            ImportedAccount(
              row: 1, accountID: account, transactionID: "1", environment: .production)
          ],
          isDryRun: true)),
      try method(
        WireMethods.getImport, "import", .otherBundle,
        GetImportRequest(importID: "i", bundleID: "com.example.other")),
      try method(WireMethods.listImports, "import", .everything, ListImportsRequest()),
      try method(
        WireMethods.listImportRows, "import", .otherBundle,
        ListImportRowsRequest(importID: "i", bundleID: "com.example.other")),
      try method(
        WireMethods.changeImport, "import", .otherBundle,
        ChangeImportRequest(importID: "i", action: .cancel, bundleID: "com.example.other")),
      try method(WireMethods.whoAmI, "identity", .nothing, WhoAmIRequest()),
      try method(
        WireMethods.getCredentials, "credentials", .everything, GetCredentialsRequest()),
      try method(
        WireMethods.reloadCredentials, "credentials", .everything,
        ReloadCredentialsRequest(isDryRun: true)),
      try method(WireMethods.checkHealth, "open", .nothing, HealthCheckRequest(service: "")),
      try method(
        WireMethods.watchHealth, "open", .nothing, HealthCheckRequest(service: ""), isStream: true),
    ]
  }
}
