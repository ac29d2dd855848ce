"""A request for every method of Protos, as JSON, and what must come of it.

Values in braces are filled in by check.py: payloads that the simulator signs. A request may be sent several
times: those that change something have the same outcome again, or name it.
"""

APP = {"bundleId": "com.example.scribe", "environment": "STORE_ENVIRONMENT_SANDBOX"}
CUSTOMER = {"accountId": "customer-001"}
OTHER = "customer-002"
IMPORT = {"importId": "move", "bundleId": APP["bundleId"]}
REASON = {"reason": "a check of clients", "onBehalfOf": "a developer"}
PURCHASE = {"target": {"originalTransactionId": "{purchase}"}}


class Expect:
    """What must come of a call: `code` of an error, or None, and members that the answer must have."""

    def __init__(self, request, *members, codes=(None,)):
        self.request, self.members, self.codes = request, members, codes


REQUESTS = {
    "grpc.health.v1.Health/Check": Expect({}, "status"),
    "grpc.health.v1.Health/Watch": Expect({}, "status"),
    "entitle.v1.EntitlementService/GetCustomerState": Expect({"customer": CUSTOMER, **APP}, "state"),
    "entitle.v1.EntitlementService/BatchGetCustomerState": Expect(
        {"customers": [CUSTOMER, {"accountId": OTHER}], **APP}, "results"),
    "entitle.v1.EntitlementService/CheckEntitlement": Expect(
        {"customer": CUSTOMER, "entitlementId": "pro", **APP}, "revision"),
    "entitle.v1.EntitlementService/ExplainCustomerState": Expect(
        {"customer": CUSTOMER, **APP}, "state", "entitlements"),
    "entitle.v1.EntitlementService/WatchCustomerStates": Expect({}, "cursor"),
    "entitle.v1.EntitlementService/ListCustomers": Expect({"pageSize": 3, **APP}, "customers"),
    "entitle.v1.SubmissionService/SubmitSignedTransactions": Expect(
        {"items": [{"signedPayload": "{transaction}"}], "accountId": "client-1"}, "results"),
    "entitle.v1.SubmissionService/SubmitNotification": Expect(
        {"signedPayload": "{notification}"}, "verdict", "notificationUuid"),
    "entitle.v1.SubmissionService/SubmitReceipt": Expect(
        {"receipt": "{receipt}", "accountId": "client-2"}, "verdict"),
    "entitle.v1.LinkService/ResolveAccount": Expect({"customer": CUSTOMER, **APP}, "accountId"),
    "entitle.v1.LinkService/LinkAccount": Expect(
        {**PURCHASE, "accountId": "client-1", **APP, **REASON}),
    "entitle.v1.LinkService/UnlinkAccount": Expect({**PURCHASE, **APP, **REASON}),
    "entitle.v1.LinkService/TransferPurchase": Expect(
        {**PURCHASE, "toAccountId": "client-3", **APP, **REASON}),
    "entitle.v1.LinkService/MergeAccounts": Expect(
        {"fromAccountId": "client-3", "intoAccountId": "client-4", **APP, **REASON}),
    "entitle.v1.LinkService/ListLinks": Expect({"accountId": "customer-001", **APP}, "links"),
    "entitle.v1.LinkService/BindAccountToken": Expect(
        {"appAccountToken": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "accountId": OTHER, **APP, **REASON}),
    "entitle.v1.LinkService/ListAccountTokens": Expect(APP),
    "entitle.v1.LinkService/GetLinkHistory": Expect({"accountId": "customer-001", **APP}, "events"),
    "entitle.v1.AdminService/AddGrant": Expect(
        {"accountId": OTHER, "entitlementId": "pro", "grantId": "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", **APP,
         **REASON}, "grant"),
    "entitle.v1.AdminService/WithdrawGrant": Expect(
        {"grantId": "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", **APP, **REASON}, "grant"),
    "entitle.v1.AdminService/ListGrants": Expect({"accountId": OTHER, **APP}, "grants"),
    "entitle.v1.AdminService/GetCatalog": Expect({}, "digest", "products"),
    "entitle.v1.AdminService/ReloadCatalog": Expect({"dryRun": True}, "digest"),
    "entitle.v1.AdminService/ListChanges": Expect({"pageSize": 5}, "changes"),
    "entitle.v1.AdminService/ImportArchivedResponse": Expect(
        {"bundleId": APP["bundleId"], "response": "{archive}", "accountId": "client-5"}, "verdict"),
    "entitle.v1.AdminService/GetCustomerHistory": Expect({"accountId": "customer-001", **APP}, "entries"),
    "entitle.v1.AdminService/ExportCustomer": Expect({"accountId": "customer-001", **APP}, "json"),
    "entitle.v1.AdminService/DeleteCustomer": Expect(
        {"accountId": "customer-012", **APP, **REASON}, codes=(None, "not_found")),
    "entitle.v1.AdminService/ListUnlinkedChains": Expect(APP),
    "entitle.v1.AdminService/ListNotifications": Expect({"pageSize": 5}, "notifications"),
    "entitle.v1.AdminService/GetStatistics": Expect({}, "counters", "version"),
    "entitle.v1.AdminService/GetServer": Expect({}, "version", "nodeName", "storeKind"),
    "entitle.v1.AuditService/ListAuditEntries": Expect({"pageSize": 5}, "entries"),
    "entitle.v1.AuditService/ListAuditSeals": Expect({}),
    "entitle.v1.JobService/ListJobs": Expect({"pageSize": 5}),
    "entitle.v1.JobService/RetryJob": Expect({"jobId": "987654321", **REASON}, codes=("not_found",)),
    "entitle.v1.JobService/CancelJob": Expect({"jobId": "987654321", **REASON}, codes=("not_found",)),
    # The server has no key of the App Store Server API.
    "entitle.v1.JobService/ReconcileNotifications": Expect(
        {"sinceMs": "0", **APP, **REASON}, codes=("failed_precondition",)),
    # Neither has it one to ask the App Store with.
    **{
        f"entitle.v1.AppStoreService/{method}": Expect({**APP, **request}, codes=("failed_precondition",))
        for method, request in {
            "GetTransaction": {"transactionId": "1"},
            "ListTransactions": {"id": "1"},
            "GetSubscriptionStatuses": {"id": "1"},
            "ListRefunds": {"id": "1"},
            "LookUpOrder": {"orderId": "MX1"},
            "GetAppTransaction": {"id": "1"},
            "ListSentNotifications": {"startMs": "0"},
            "RequestTestNotification": REASON,
            "GetTestNotification": {"testNotificationToken": "t"},
            "ExtendRenewal": {"originalTransactionId": "1", "extendByDays": 1, "requestIdentifier": "r", **REASON},
            "ExtendAllRenewals": {"productId": "p", "extendByDays": 1, "requestIdentifier": "r", **REASON},
            "GetRenewalExtension": {"productId": "p", "requestIdentifier": "r"},
            "SetAppAccountToken": {
                "originalTransactionId": "1", "appAccountToken": "7c9e6679-7425-40de-944b-e07fc1f90ae7", **REASON},
            "FinishTransaction": {"transactionId": "1", **REASON},
        }.items()
    },
    "entitle.v1.ConsumptionService/SetConsumptionConsent": Expect(
        {"accountId": "customer-003", "consented": True, **APP, **REASON}, "consent"),
    "entitle.v1.ConsumptionService/GetConsumptionConsent": Expect({"accountId": "customer-003", **APP}),
    "entitle.v1.ConsumptionService/SetConsumptionPercentage": Expect(
        {"transactionId": "987654321", "percentage": "42500", **APP, **REASON}),
    "entitle.v1.ConsumptionService/ListConsumptionRequests": Expect(APP),
    # The server has no key of the App Store Server API.
    "entitle.v1.ConsumptionService/SendConsumption": Expect(
        {"transactionId": "987654321", **APP, **REASON}, codes=("failed_precondition",)),
    "entitle.v1.OfferService/GetOfferEligibility": Expect({"customer": CUSTOMER, **APP}, "evaluatedAtMs"),
    # The catalog has no offers.
    "entitle.v1.OfferService/SignPromotionalOffer": Expect(
        {"customer": CUSTOMER, "productId": "com.example.scribe.pro.monthly", "offerId": "none", **APP, **REASON},
        codes=("not_found",)),
    "entitle.v1.OfferService/SignIntroductoryOfferEligibility": Expect(
        {"customer": CUSTOMER, "productId": "com.example.scribe.pro.monthly", **APP, **REASON},
        codes=("not_found",)),
    # The server has no key of the App Store Server API.
    "entitle.v1.MigrationService/ImportAccounts": Expect(
        {
            **IMPORT,
            "rows": [{"row": "1", "accountId": "client-6", "transactionId": "2000000000000001"}], **REASON,
        },
        codes=("failed_precondition",)),
    "entitle.v1.MigrationService/GetImport": Expect(IMPORT, codes=("not_found",)),
    "entitle.v1.MigrationService/ListImports": Expect({"pageSize": 5}),
    "entitle.v1.MigrationService/ListImportRows": Expect(IMPORT, codes=("not_found",)),
    "entitle.v1.MigrationService/ChangeImport": Expect(
        {**IMPORT, "action": "IMPORT_ACTION_CANCEL", **REASON}, codes=("not_found",)),
    "entitle.v1.AccessService/WhoAmI": Expect({}, "name"),
    "entitle.v1.AccessService/GetCredentials": Expect({}),
    "entitle.v1.AccessService/ReloadCredentials": Expect({"dryRun": True}),
}
