"""Where the Swift of a message differs from what its name and fields give.

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
    "notification_uuid": "NotificationUUID",
}

# Words that are not capitalised as others are.
WORDS = {"id": "ID", "ids": "IDs", "uuid": "UUID", "yaml": "YAML"}

# Properties, by field, or by message and field.
PROPERTIES = {
    "granted": "isGranted",
    "changed": "isChanged",
    "duplicate": "isDuplicate",
    "valid": "isValid",
    "dry_run": "isDryRun",
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
    "Commitment.expires_at_ms": "expiresDate",
    "Grant.grant_id": "id",
    "ReceiptSummary.creation_ms": "creationDate",
    "ReceiptSummary.original_purchase_ms": "originalPurchaseDate",
    "ReceiptSummary.expiration_ms": "expirationDate",
}

# Swift types of fields that their names and descriptors do not give.
TYPES = {
    "CustomerChange.kinds": "Set<ChangeKind>",
    "ReceiptSummary.in_app_count": "Int",
    "HealthCheckRequest.service": "String",
}

# Names in Swift of messages and enumerations that have another one there.
NAMES = {
    "Change": "ChangeEntry",
    "Counter": "StatisticsCounter",
    "CustomerRevision": "SubmittedCustomer",
    "Consistency": "ReadConsistency",
    "Disposition": "SubmissionDisposition",
    "Evidence": "FactAuthority",
    "HistoryEntry": "CustomerHistoryEntry",
    "ItemResult": "SubmittedItemResult",
    "Link": "AccountLink",
    "LinkEvent": "LinkHistoryEntry",
    "LinkOutcome": "SubmissionLinkOutcome",
    "PayloadKind": "SubmittedKind",
    "UnlinkedChain": "UnlinkedChainEntry",
    "Verdict": "SubmissionVerdict",
}

# Cases of enumerations that have another name in Swift.
CASES = {
    "VERDICT_UNSPECIFIED": "unrecognized",
    "EVIDENCE_UNSIGNED_ARCHIVE": "archivedResponse",
}

# Types of EntitlementDomain. Their properties are read from its sources; only how they are mapped is
# generated.
DOMAIN_MESSAGES = {
    "Commitment", "ConsideredItem", "CustomerState", "EntitlementExplanation", "EntitlementState",
    "ExpectedChange", "FeedEvent", "GrandfatheringState", "Grant", "GrantWithdrawal",
    "GroupExplanation", "GroupState", "Offer", "PendingChange", "ProductState", "Reasoning",
    "Revocation", "Standing",
}
DOMAIN_ENUMERATIONS = {
    "CallToAction", "ConsideredItem.Kind", "CoreState", "DetailedStatus", "Evidence",
    "ExpirationReason", "FeedEventKind", "GrandfatheringOutcome", "GrandfatheringReason",
    "LinkReason", "Notice", "PriceConsent", "RefetchReason", "StoreEnvironment",
}

# Messages that truly differ from their Swift types: Sources/Wire/Messages has how they are read and
# written. Those in PRIVATE have no Swift type of their own outside their file.
BY_HAND = {
    "CatalogIssue", "Consistency", "Decision", "EntitlementSource", "ExplainCustomerStateResponse",
    "GetCustomerStateResponse", "GetLinkHistoryRequest", "LinkTarget", "SignedItem",
    "SubmitSignedTransactionsRequest", "WatchCustomerStatesRequest",
}
PRIVATE = {"SignedItem"}
ENUMERATIONS_BY_HAND = {"Consistency.Mode"}

# Messages by hand that callers send with limits, and that answers hold without: an id of Apple's that
# is stored may be of any length.
STRICT_IN_REQUESTS = {"LinkTarget"}

# Messages that are one oneof, and an enumeration of the domain.
CHOICES = {
    "CustomerSelector": {
        "account_id": "account",
        "original_transaction_id": "originalTransaction",
        "transaction_id": "transaction",
        "app_transaction_id": "appTransaction",
        "app_account_token": "appAccountToken",
    },
}

# Oneofs: the property, its type, its cases. One that is required is declared where it is.
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

# What a message means where it is absent.
ABSENT = {"Consistency": ".minimizeLatency"}

# The order of an initialiser's arguments where it is not that of the fields.
ORDERS = {
    "SubmitReceiptRequest": ["receipt", "bundleID", "accountID", "deviceIdentifier", "priority"],
}

# Answers whose initialisers may leave out what can be absent, as those of requests do.
LENIENT = {
    "CatalogAttempt", "CatalogResponse", "Change", "CustomerChange", "GetStatisticsResponse",
    "HealthCheckResponse", "ItemResult", "Link", "LinkEvent", "NotificationEntry", "ReceiptSummary",
    "SubmitNotificationResponse", "SubmitReceiptResponse", "WatchCustomerStatesResponse",
}

# Services, and methods whose name alone says too little.
SERVICES = {
    "EntitlementService": "entitlements",
    "LinkService": "links",
    "SubmissionService": "submissions",
    "AdminService": "admin",
    "Health": "health",
}
METHODS = {"Health.Check": "checkHealth", "Health.Watch": "watchHealth"}

# Files whose types are for this package alone.
PACKAGE_FILES = {"entitle/v1/admin.proto"}
