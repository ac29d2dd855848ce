/// A method of a service: where it is called, what it takes and what it answers.
package struct WireMethod<Request: WireMessage, Response: WireMessage>: Sendable {
  /// Full name of the service, such as `entitle.v1.EntitlementService`.
  package let service: String
  package let name: String
}

/// The methods of `Protos/`.
package enum WireMethods {
  package static let getCustomerState = WireMethod<
    GetCustomerStateRequest, GetCustomerStateResponse
  >(service: ServiceNames.entitlements, name: "GetCustomerState")

  package static let batchGetCustomerState = WireMethod<
    BatchGetCustomerStateRequest, BatchGetCustomerStateResponse
  >(service: ServiceNames.entitlements, name: "BatchGetCustomerState")

  package static let checkEntitlement = WireMethod<
    CheckEntitlementRequest, CheckEntitlementResponse
  >(service: ServiceNames.entitlements, name: "CheckEntitlement")

  package static let explainCustomerState = WireMethod<
    ExplainCustomerStateRequest, ExplainCustomerStateResponse
  >(service: ServiceNames.entitlements, name: "ExplainCustomerState")

  package static let listCustomers = WireMethod<ListCustomersRequest, ListCustomersResponse>(
    service: ServiceNames.entitlements, name: "ListCustomers")

  /// Server streaming.
  package static let watchCustomerStates = WireMethod<
    WatchCustomerStatesRequest, WatchCustomerStatesResponse
  >(service: ServiceNames.entitlements, name: "WatchCustomerStates")

  package static let resolveAccount = WireMethod<ResolveAccountRequest, ResolveAccountResponse>(
    service: ServiceNames.links, name: "ResolveAccount")

  package static let linkAccount = WireMethod<LinkAccountRequest, LinkResponse>(
    service: ServiceNames.links, name: "LinkAccount")

  package static let unlinkAccount = WireMethod<UnlinkAccountRequest, LinkResponse>(
    service: ServiceNames.links, name: "UnlinkAccount")

  package static let transferPurchase = WireMethod<TransferPurchaseRequest, LinkResponse>(
    service: ServiceNames.links, name: "TransferPurchase")

  package static let mergeAccounts = WireMethod<MergeAccountsRequest, LinkResponse>(
    service: ServiceNames.links, name: "MergeAccounts")

  package static let listLinks = WireMethod<ListLinksRequest, ListLinksResponse>(
    service: ServiceNames.links, name: "ListLinks")

  package static let getLinkHistory = WireMethod<GetLinkHistoryRequest, GetLinkHistoryResponse>(
    service: ServiceNames.links, name: "GetLinkHistory")

  package static let submitSignedTransactions = WireMethod<
    SubmitSignedTransactionsRequest, SubmitSignedTransactionsResponse
  >(service: ServiceNames.submissions, name: "SubmitSignedTransactions")

  package static let submitNotification = WireMethod<
    SubmitNotificationRequest, SubmitNotificationResponse
  >(service: ServiceNames.submissions, name: "SubmitNotification")

  package static let submitReceipt = WireMethod<SubmitReceiptRequest, SubmitReceiptResponse>(
    service: ServiceNames.submissions, name: "SubmitReceipt")

  package static let addGrant = WireMethod<AddGrantRequest, GrantResponse>(
    service: ServiceNames.admin, name: "AddGrant")

  package static let withdrawGrant = WireMethod<WithdrawGrantRequest, GrantResponse>(
    service: ServiceNames.admin, name: "WithdrawGrant")

  package static let listGrants = WireMethod<ListGrantsRequest, ListGrantsResponse>(
    service: ServiceNames.admin, name: "ListGrants")

  package static let getCatalog = WireMethod<GetCatalogRequest, CatalogResponse>(
    service: ServiceNames.admin, name: "GetCatalog")

  package static let reloadCatalog = WireMethod<ReloadCatalogRequest, CatalogResponse>(
    service: ServiceNames.admin, name: "ReloadCatalog")

  package static let listChanges = WireMethod<ListChangesRequest, ListChangesResponse>(
    service: ServiceNames.admin, name: "ListChanges")

  package static let importArchivedResponse = WireMethod<
    ImportArchivedResponseRequest, SubmitReceiptResponse
  >(service: ServiceNames.admin, name: "ImportArchivedResponse")

  package static let getCustomerHistory = WireMethod<
    GetCustomerHistoryRequest, GetCustomerHistoryResponse
  >(service: ServiceNames.admin, name: "GetCustomerHistory")

  /// Server streaming.
  package static let exportCustomer = WireMethod<ExportCustomerRequest, ExportedPiece>(
    service: ServiceNames.admin, name: "ExportCustomer")

  package static let deleteCustomer = WireMethod<DeleteCustomerRequest, LinkResponse>(
    service: ServiceNames.admin, name: "DeleteCustomer")

  package static let listUnlinkedChains = WireMethod<
    ListUnlinkedChainsRequest, ListUnlinkedChainsResponse
  >(service: ServiceNames.admin, name: "ListUnlinkedChains")

  package static let getStatistics = WireMethod<GetStatisticsRequest, GetStatisticsResponse>(
    service: ServiceNames.admin, name: "GetStatistics")

  package static let checkHealth = WireMethod<HealthCheckRequest, HealthCheckResponse>(
    service: ServiceNames.health, name: "Check")

  /// Server streaming.
  package static let watchHealth = WireMethod<HealthCheckRequest, HealthCheckResponse>(
    service: ServiceNames.health, name: "Watch")
}

/// Full names of the services of `Protos/`.
package enum ServiceNames {
  package static let entitlements = "entitle.v1.EntitlementService"
  package static let links = "entitle.v1.LinkService"
  package static let submissions = "entitle.v1.SubmissionService"
  package static let admin = "entitle.v1.AdminService"
  package static let health = "grpc.health.v1.Health"
}
