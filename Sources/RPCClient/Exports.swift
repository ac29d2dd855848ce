// The types of other modules that this library re-exports: what its calls take, return and throw,
// and the types of their fields. `deploy/documentation` fails when a public declaration names a
// type of this package that is not listed here. Everything else in these modules stays internal to
// the package.

// MARK: Connecting and errors

@_exported public import enum Framing.RPCCode
@_exported public import struct Framing.RPCStatus
@_exported public import enum Framing.ServerAddress
@_exported public import struct Framing.WireError

// MARK: Identifiers and basic values

@_exported public import typealias EntitlementDomain.AccountID
@_exported public import typealias EntitlementDomain.AppAccountToken
@_exported public import struct EntitlementDomain.AppScope
@_exported public import typealias EntitlementDomain.AppTransactionID
@_exported public import typealias EntitlementDomain.BundleID
@_exported public import enum EntitlementDomain.CustomerSelector
@_exported public import typealias EntitlementDomain.EntitlementID
@_exported public import typealias EntitlementDomain.GrandfatheringRuleID
@_exported public import typealias EntitlementDomain.GrantID
@_exported public import struct EntitlementDomain.Identifier
@_exported public import struct EntitlementDomain.Milliseconds
@_exported public import typealias EntitlementDomain.NotificationUUID
@_exported public import typealias EntitlementDomain.OriginalTransactionID
@_exported public import typealias EntitlementDomain.ProductID
@_exported public import enum EntitlementDomain.StoreEnvironment
@_exported public import typealias EntitlementDomain.SubscriptionGroupID
@_exported public import typealias EntitlementDomain.TransactionID
@_exported public import enum Wire.MessageLimits

// MARK: Reading states

@_exported public import struct Wire.BatchGetCustomerStateRequest
@_exported public import struct Wire.BatchGetCustomerStateResponse
@_exported public import struct Wire.CheckEntitlementRequest
@_exported public import struct Wire.CheckEntitlementResponse
@_exported public import struct Wire.GetCustomerStateRequest
@_exported public import enum Wire.GetCustomerStateResponse
@_exported public import struct Wire.ListCustomersRequest
@_exported public import struct Wire.ListCustomersResponse
@_exported public import enum Wire.ReadConsistency

// MARK: The state of a customer

@_exported public import enum EntitlementDomain.CallToAction
@_exported public import struct EntitlementDomain.Commitment
@_exported public import enum EntitlementDomain.CoreState
@_exported public import struct EntitlementDomain.CustomerState
@_exported public import enum EntitlementDomain.DetailedStatus
@_exported public import struct EntitlementDomain.EntitlementSource
@_exported public import struct EntitlementDomain.EntitlementState
@_exported public import enum EntitlementDomain.ExpirationReason
@_exported public import enum EntitlementDomain.FactAuthority
@_exported public import enum EntitlementDomain.GrandfatheringOutcome
@_exported public import enum EntitlementDomain.GrandfatheringReason
@_exported public import struct EntitlementDomain.GrandfatheringState
@_exported public import struct EntitlementDomain.GroupState
@_exported public import enum EntitlementDomain.Notice
@_exported public import struct EntitlementDomain.Offer
@_exported public import struct EntitlementDomain.OfferDiscountType
@_exported public import struct EntitlementDomain.OfferType
@_exported public import struct EntitlementDomain.OwnershipType
@_exported public import struct EntitlementDomain.PendingChange
@_exported public import enum EntitlementDomain.PriceConsent
@_exported public import struct EntitlementDomain.ProductState
@_exported public import struct EntitlementDomain.ProductType
@_exported public import struct EntitlementDomain.Revocation
@_exported public import struct EntitlementDomain.RevocationReason
@_exported public import struct EntitlementDomain.RevocationType
@_exported public import struct EntitlementDomain.Standing

// MARK: Explanations

@_exported public import struct EntitlementDomain.ConsideredItem
@_exported public import struct EntitlementDomain.Decision
@_exported public import struct EntitlementDomain.EntitlementExplanation
@_exported public import struct EntitlementDomain.ExpectedChange
@_exported public import struct EntitlementDomain.Explanation
@_exported public import struct EntitlementDomain.ExplanationOmissions
@_exported public import struct EntitlementDomain.GroupExplanation
@_exported public import struct EntitlementDomain.Reasoning
@_exported public import struct EntitlementDomain.Rule
@_exported public import struct Wire.ExplainCustomerStateRequest
@_exported public import struct Wire.ExplainCustomerStateResponse

// MARK: Watching changes

@_exported public import struct EntitlementDomain.FeedEvent
@_exported public import enum EntitlementDomain.FeedEventKind
@_exported public import enum EntitlementDomain.RefetchReason
@_exported public import enum Wire.ChangeKind
@_exported public import struct Wire.CustomerChange
@_exported public import struct Wire.WatchCustomerStatesRequest
@_exported public import struct Wire.WatchCustomerStatesResponse

// MARK: Submissions

@_exported public import struct Wire.ReceiptSummary
@_exported public import enum Wire.SubmissionDisposition
@_exported public import enum Wire.SubmissionLinkOutcome
@_exported public import enum Wire.SubmissionPriority
@_exported public import enum Wire.SubmissionVerdict
@_exported public import struct Wire.SubmitNotificationRequest
@_exported public import struct Wire.SubmitNotificationResponse
@_exported public import struct Wire.SubmitReceiptRequest
@_exported public import struct Wire.SubmitReceiptResponse
@_exported public import struct Wire.SubmitSignedTransactionsRequest
@_exported public import struct Wire.SubmitSignedTransactionsResponse
@_exported public import struct Wire.SubmittedCustomer
@_exported public import struct Wire.SubmittedItemResult
@_exported public import enum Wire.SubmittedKind

// MARK: Links

@_exported public import enum EntitlementDomain.Knowledge
@_exported public import enum EntitlementDomain.AccountTokenState
@_exported public import enum EntitlementDomain.LinkReason
@_exported public import enum EntitlementDomain.LinkTarget
@_exported public import struct Wire.AccountLink
@_exported public import struct Wire.AccountToken
@_exported public import struct Wire.BindAccountTokenRequest
@_exported public import struct Wire.GetLinkHistoryRequest
@_exported public import struct Wire.GetLinkHistoryResponse
@_exported public import struct Wire.LinkAccountRequest
@_exported public import struct Wire.LinkHistoryEntry
@_exported public import struct Wire.LinkResponse
@_exported public import struct Wire.ListAccountTokensRequest
@_exported public import struct Wire.ListAccountTokensResponse
@_exported public import struct Wire.ListLinksRequest
@_exported public import struct Wire.ListLinksResponse
@_exported public import struct Wire.MergeAccountsRequest
@_exported public import struct Wire.ResolveAccountRequest
@_exported public import struct Wire.ResolveAccountResponse
@_exported public import struct Wire.TransferPurchaseRequest
@_exported public import struct Wire.UnlinkAccountRequest

// MARK: Health

@_exported public import struct Wire.HealthCheckResponse
