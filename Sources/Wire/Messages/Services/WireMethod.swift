/// A method of a service: where it is called, what it takes and what it answers.
package struct WireMethod<Request: WireMessage, Response: WireMessage>: Sendable {
  /// Full name of the service, such as `entitle.v1.EntitlementService`.
  package let service: String
  package let name: String
  package let idempotency: Idempotency
}

/// What another call with the same request does (`google.protobuf.MethodOptions.IdempotencyLevel`).
package enum Idempotency: Hashable, Sendable {
  /// Nothing, and the first does nothing either: a read.
  case noSideEffects
  /// Nothing more than the first.
  case idempotent
  /// Nobody knows.
  case unknown
}

/// The methods of `Protos/`.
package enum WireMethods {
  package static let getCustomerState = WireMethod<
    GetCustomerStateRequest, GetCustomerStateResponse
  >(
    service: ServiceNames.entitlements, name: "GetCustomerState",
    idempotency: .noSideEffects)

  package static let batchGetCustomerState = WireMethod<
    BatchGetCustomerStateRequest, BatchGetCustomerStateResponse
  >(
    service: ServiceNames.entitlements, name: "BatchGetCustomerState",
    idempotency: .noSideEffects)

  package static let checkEntitlement = WireMethod<
    CheckEntitlementRequest, CheckEntitlementResponse
  >(
    service: ServiceNames.entitlements, name: "CheckEntitlement",
    idempotency: .noSideEffects)

  package static let explainCustomerState = WireMethod<
    ExplainCustomerStateRequest, ExplainCustomerStateResponse
  >(
    service: ServiceNames.entitlements, name: "ExplainCustomerState",
    idempotency: .noSideEffects)

  package static let listCustomers = WireMethod<ListCustomersRequest, ListCustomersResponse>(
    service: ServiceNames.entitlements, name: "ListCustomers", idempotency: .noSideEffects)

  /// Server streaming.
  package static let watchCustomerStates = WireMethod<
    WatchCustomerStatesRequest, WatchCustomerStatesResponse
  >(
    service: ServiceNames.entitlements, name: "WatchCustomerStates",
    idempotency: .noSideEffects)

  package static let resolveAccount = WireMethod<ResolveAccountRequest, ResolveAccountResponse>(
    service: ServiceNames.links, name: "ResolveAccount", idempotency: .noSideEffects)

  package static let linkAccount = WireMethod<LinkAccountRequest, LinkResponse>(
    service: ServiceNames.links, name: "LinkAccount", idempotency: .idempotent)

  package static let unlinkAccount = WireMethod<UnlinkAccountRequest, LinkResponse>(
    service: ServiceNames.links, name: "UnlinkAccount", idempotency: .idempotent)

  package static let transferPurchase = WireMethod<TransferPurchaseRequest, LinkResponse>(
    service: ServiceNames.links, name: "TransferPurchase", idempotency: .idempotent)

  package static let mergeAccounts = WireMethod<MergeAccountsRequest, LinkResponse>(
    service: ServiceNames.links, name: "MergeAccounts", idempotency: .idempotent)

  package static let listLinks = WireMethod<ListLinksRequest, ListLinksResponse>(
    service: ServiceNames.links, name: "ListLinks", idempotency: .noSideEffects)

  package static let getLinkHistory = WireMethod<GetLinkHistoryRequest, GetLinkHistoryResponse>(
    service: ServiceNames.links, name: "GetLinkHistory", idempotency: .noSideEffects)

  package static let submitSignedTransactions = WireMethod<
    SubmitSignedTransactionsRequest, SubmitSignedTransactionsResponse
  >(
    service: ServiceNames.submissions, name: "SubmitSignedTransactions",
    idempotency: .idempotent)

  package static let submitNotification = WireMethod<
    SubmitNotificationRequest, SubmitNotificationResponse
  >(
    service: ServiceNames.submissions, name: "SubmitNotification",
    idempotency: .idempotent)

  package static let submitReceipt = WireMethod<SubmitReceiptRequest, SubmitReceiptResponse>(
    service: ServiceNames.submissions, name: "SubmitReceipt", idempotency: .idempotent)

  /// Idempotent with a grant id.
  package static let addGrant = WireMethod<AddGrantRequest, GrantResponse>(
    service: ServiceNames.admin, name: "AddGrant", idempotency: .unknown)

  package static let withdrawGrant = WireMethod<WithdrawGrantRequest, GrantResponse>(
    service: ServiceNames.admin, name: "WithdrawGrant", idempotency: .idempotent)

  package static let listGrants = WireMethod<ListGrantsRequest, ListGrantsResponse>(
    service: ServiceNames.admin, name: "ListGrants", idempotency: .noSideEffects)

  package static let getCatalog = WireMethod<GetCatalogRequest, CatalogResponse>(
    service: ServiceNames.admin, name: "GetCatalog", idempotency: .noSideEffects)

  package static let reloadCatalog = WireMethod<ReloadCatalogRequest, CatalogResponse>(
    service: ServiceNames.admin, name: "ReloadCatalog", idempotency: .idempotent)

  package static let listChanges = WireMethod<ListChangesRequest, ListChangesResponse>(
    service: ServiceNames.admin, name: "ListChanges", idempotency: .noSideEffects)

  package static let importArchivedResponse = WireMethod<
    ImportArchivedResponseRequest, SubmitReceiptResponse
  >(
    service: ServiceNames.admin, name: "ImportArchivedResponse",
    idempotency: .idempotent)

  package static let getCustomerHistory = WireMethod<
    GetCustomerHistoryRequest, GetCustomerHistoryResponse
  >(
    service: ServiceNames.admin, name: "GetCustomerHistory",
    idempotency: .noSideEffects)

  /// Server streaming.
  package static let exportCustomer = WireMethod<ExportCustomerRequest, ExportedPiece>(
    service: ServiceNames.admin, name: "ExportCustomer", idempotency: .noSideEffects)

  /// Once it is done, another is NOT_FOUND.
  package static let deleteCustomer = WireMethod<DeleteCustomerRequest, LinkResponse>(
    service: ServiceNames.admin, name: "DeleteCustomer", idempotency: .unknown)

  package static let listUnlinkedChains = WireMethod<
    ListUnlinkedChainsRequest, ListUnlinkedChainsResponse
  >(
    service: ServiceNames.admin, name: "ListUnlinkedChains",
    idempotency: .noSideEffects)

  package static let getStatistics = WireMethod<GetStatisticsRequest, GetStatisticsResponse>(
    service: ServiceNames.admin, name: "GetStatistics", idempotency: .noSideEffects)

  package static let checkHealth = WireMethod<HealthCheckRequest, HealthCheckResponse>(
    service: ServiceNames.health, name: "Check", idempotency: .noSideEffects)

  /// Server streaming.
  package static let watchHealth = WireMethod<HealthCheckRequest, HealthCheckResponse>(
    service: ServiceNames.health, name: "Watch", idempotency: .noSideEffects)
}

/// Full names of the services of `Protos/`.
package enum ServiceNames {
  package static let entitlements = "entitle.v1.EntitlementService"
  package static let links = "entitle.v1.LinkService"
  package static let submissions = "entitle.v1.SubmissionService"
  package static let admin = "entitle.v1.AdminService"
  package static let health = "grpc.health.v1.Health"
}
