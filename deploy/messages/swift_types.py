"""Exceptions: Swift names and types that do not follow from the names and fields of messages.

A message of Protos/ is a Swift structure of the same name, unless it is listed here. Its properties
are named after its fields, in lowerCamelCase, without "_ms".
"""

# Types of texts and moments, by the end of the field's name; the longest one counts.
IDENTIFIERS = {
    "account_id": "AccountID",
    "bundle_id": "BundleID",
    "original_transaction_id": "OriginalTransactionID",
    "transaction_id": "TransactionID",
    "app_transaction_id": "AppTransactionID",
    "app_account_token": "AppAccountToken",
    "product_id": "ProductID",
    "group_id": "SubscriptionGroupID",
    "entitlement_id": "EntitlementID",
    "grant_id": "GrantID",
    "rule_id": "GrandfatheringRuleID",
    "offer_id": "OfferID",
    "notification_uuid": "NotificationUUID",
}

# Words with a capitalisation of their own.
WORDS = {"id": "ID", "ids": "IDs", "uuid": "UUID", "yaml": "YAML"}

# Properties, by field, or by message and field.
PROPERTIES = {
    "granted": "isGranted",
    "eligible": "isEligible",
    "allow_introductory_offer": "allowsIntroductoryOffer",
    "changed": "isChanged",
    "duplicate": "isDuplicate",
    "valid": "isValid",
    "dry_run": "isDryRun",
    "consented": "isConsented",
    "running": "isRunning",
    "known": "isKnown",
    "sandbox_too": "asksSandboxToo",
    "complete": "isComplete",
    "by_chain": "isByChain",
    "flagged": "isFlagged",
    "in_catalog": "isInCatalog",
    "conferred": "isConferred",
    "decisive": "isDecisive",
    "from_deleted": "isFromDeleted",
    "to_deleted": "isToDeleted",
    "CatalogResponse.apps": "appCount",
    "CatalogResponse.products": "productCount",
    "CatalogResponse.entitlements": "entitlementCount",
    "CatalogResponse.grandfathering_rules": "grandfatheringRuleCount",
    "Change.facts": "hasFacts",
    "Change.linked": "isLinked",
    "Change.unlinked": "isUnlinked",
    "Change.grants": "hasGrants",
    "Change.merged": "isMerged",
    "Change.deleted": "isDeleted",
    "CredentialsResponse.enabled": "isEnabled",
    "AppStorePayload.omitted": "isOmitted",
    "descending": "isDescending",
    "complete": "isComplete",
    "or_sandbox": "orSandbox",
    "include_signed": "includesSigned",
    "store": "stores",
    "fetch_if_unknown": "fetchesIfUnknown",
    "only_failures": "onlyFailures",
    "all_apps": "hasAllApps",
    "credentials_needed": "needsCredentials",
    "Commitment.expires_at_ms": "expiresDate",
    "Grant.grant_id": "id",
    "ReceiptSummary.creation_ms": "creationDate",
    "ReceiptSummary.original_purchase_ms": "originalPurchaseDate",
    "ReceiptSummary.expiration_ms": "expirationDate",
}

# Swift types of fields that do not follow from their names and descriptors.
TYPES = {
    "CustomerChange.kinds": "Set<ChangeKind>",
    "ReceiptSummary.in_app_count": "Int",
    "HealthCheckRequest.service": "String",
    "ListTransactionsRequest.product_ids": "[String]",
    "ListTransactionsRequest.subscription_group_ids": "[String]",
}

# Swift names of messages and enumerations, where they differ.
NAMES = {
    "AuditEntry": "AuditedCallEntry",
    "AuditSeal": "AuditSealEntry",
    "AuditSealedChain": "AuditSealedChainEntry",
    "Change": "ChangeEntry",
    "Counter": "StatisticsCounter",
    "CustomerRevision": "SubmittedCustomer",
    "Consistency": "ReadConsistency",
    "ConsumptionConsent": "ConsumptionConsentEntry",
    "ConsumptionRequest": "ConsumptionRequestEntry",
    "Disposition": "SubmissionDisposition",
    "Evidence": "FactAuthority",
    "HistoryEntry": "CustomerHistoryEntry",
    "Import": "ImportEntry",
    "ImportRow": "ImportRowEntry",
    "ItemResult": "SubmittedItemResult",
    "Job": "JobEntry",
    "Link": "AccountLink",
    "LinkEvent": "LinkHistoryEntry",
    "LinkOutcome": "SubmissionLinkOutcome",
    "OfferEligibility": "OfferEligibilityEntry",
    "PayloadKind": "SubmittedKind",
    "ReceivedNotification": "ReceivedNotificationEntry",
    "UnlinkedChain": "UnlinkedChainEntry",
    "Verdict": "SubmissionVerdict",
}

# Swift names of enumeration cases, where they differ.
CASES = {
    "PERMISSION_IMPORT": "importArchives",
    "VERDICT_UNSPECIFIED": "unrecognized",
    "EVIDENCE_UNSIGNED_ARCHIVE": "archivedResponse",
}

# Types of EntitlementDomain. Their properties are read from its sources; only their mapping is
# generated.
DOMAIN_MESSAGES = {
    "Commitment", "ConsideredItem", "CustomerState", "EntitlementExplanation", "EntitlementState",
    "ExplanationOmissions",
    "ExpectedChange", "FeedEvent", "GrandfatheringState", "Grant", "GrantWithdrawal",
    "GroupExplanation", "GroupState", "Offer", "PendingChange", "ProductState", "Reasoning",
    "Revocation", "Standing",
}
DOMAIN_ENUMERATIONS = {
    "CallToAction", "ConsideredItem.Kind", "ConsumptionCause", "CoreState", "DetailedStatus", "Evidence",
    "ExpirationReason", "FeedEventKind", "GrandfatheringOutcome", "GrandfatheringReason",
    "AccountTokenState", "Knowledge", "LinkReason", "Notice", "OfferKind",
    "OfferRefusal", "OfferSituation", "PriceConsent", "RefetchReason", "StoreEnvironment",
}

# Messages whose Swift types have another structure. Sources/Wire/Messages has their mapping. The
# Swift types of PRIVATE messages are private to their file.
BY_HAND = {
    "FileIssue", "Consistency", "Decision", "EntitlementSource", "ExplainCustomerStateResponse",
    "GetCustomerStateResponse", "GetLinkHistoryRequest", "ImportArchivedResponseRequest",
    "LinkTarget", "ListConsumptionRequestsRequest", "ListJobsRequest", "ListNotificationsRequest",
    "ReceivedNotification", "SetConsumptionPercentageRequest", "SignedItem",
    "SubmitSignedTransactionsRequest", "WatchCustomerStatesRequest",
}
PRIVATE = {"SignedItem"}
ENUMERATIONS_BY_HAND = {"Consistency.Mode"}

# Messages of BY_HAND with limits in requests but not in answers: a stored id of Apple's may have any
# length.
STRICT_IN_REQUESTS = {"LinkTarget"}

# Messages that consist of one oneof, and map to an enumeration of the domain.
CHOICES = {
    "CustomerSelector": {
        "account_id": "account",
        "original_transaction_id": "originalTransaction",
        "transaction_id": "transaction",
        "app_transaction_id": "appTransaction",
        "app_account_token": "appAccountToken",
    },
}

# Oneofs: the property, its type, its cases. The type of a required oneof is declared in its structure.
SUBJECT = {"account_id": "account", "original_transaction_id": "unlinkedChain"}
ONEOFS = {
    "CustomerRevision.customer": ("subject", "Subject", SUBJECT),
    "CustomerChange.subject": ("subject", "SubmittedCustomer.Subject?", SUBJECT),
    "Change.subject": ("subject", "SubmittedCustomer.Subject?", SUBJECT),
    "ResolveAccountResponse.customer": ("subject", "SubmittedCustomer.Subject?", SUBJECT),
    "HistoryEntry.what": (
        "occurrence",
        "Occurrence",
        {
            "link": "link",
            "grant": "grant",
            "grant_withdrawal": "grantWithdrawal",
            "notification": "notification",
        },
    ),
}

# The meaning of an absent message.
ABSENT = {"Consistency": ".minimizeLatency"}

# The order of an initialiser's arguments, where it differs from the order of the fields.
ORDERS = {
    "SubmitReceiptRequest": ["receipt", "bundleID", "accountID", "anonymousAccountID",
                             "deviceIdentifier", "priority"],
}

# Answers whose initialisers have default values for optional arguments, as those of requests do.
LENIENT = {
    "AuditEntry", "AuditSeal", "AuditSealedChain",
    "CallerEntry", "CallerLimits", "CallerToken", "CatalogAttempt", "CatalogResponse", "Change",
    "CredentialsAttempt", "CredentialsResponse", "CustomerChange", "GetServerResponse",
    "GetStatisticsResponse", "HealthCheckResponse", "Import", "ImportCount", "ImportRow",
    "ImportedAccount", "ImportRowResult", "ItemResult", "Job", "Link", "LinkEvent",
    "NotificationEntry", "OfferEligibility", "ReceiptSummary", "SignOfferResponse",
    "SubmitNotificationResponse", "SubmitReceiptResponse",
    "WatchCustomerStatesResponse", "WhoAmIResponse",
    "AppStoreChangeResponse", "AppStoreNotification", "AppStorePayload", "AppStorePayloadsResponse",
    "AppStoreSubscription",
    "ExtendAllRenewalsRequest", "GetRenewalExtensionResponse", "GetSubscriptionStatusesRequest",
    "ListTransactionsRequest", "SentNotificationsResponse",
}

# Swift names of services, and of methods whose name alone is ambiguous.
SERVICES = {
    "EntitlementService": "entitlements",
    "LinkService": "links",
    "SubmissionService": "submissions",
    "AdminService": "admin",
    "AuditService": "audit",
    "JobService": "jobs",
    "AppStoreService": "appStore",
    "ConsumptionService": "consumption",
    "OfferService": "offers",
    "MigrationService": "migration",
    "AccessService": "access",
    "Health": "health",
}
METHODS = {"Health.Check": "checkHealth", "Health.Watch": "watchHealth"}

# Files whose types have package access.
PACKAGE_FILES = {
    "entitle/v1/access.proto", "entitle/v1/admin.proto", "entitle/v1/audit.proto",
    "entitle/v1/app_store.proto", "entitle/v1/consumption.proto", "entitle/v1/jobs.proto",
    "entitle/v1/migration.proto", "entitle/v1/offers.proto", "entitle/v1/permission.proto",
}
