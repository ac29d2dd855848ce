package import Wire

// Operating: grants, the catalog, the change feed, archived responses, counters.
extension EntitlementClient {
  /// Gives an account an entitlement. With a grant id in the request it is idempotent: after an
  /// error it may be repeated.
  package func addGrant(
    _ request: AddGrantRequest
  ) async throws(RPCClientError) -> GrantResponse {
    try await call(
      WireMethods.addGrant, request,
      idempotency: request.grantID == nil ? .unknown : .idempotent)
  }

  /// Idempotent: after an error it may be repeated.
  package func withdrawGrant(
    _ request: WithdrawGrantRequest
  ) async throws(RPCClientError) -> GrantResponse {
    try await call(WireMethods.withdrawGrant, request)
  }

  /// Every grant of an account, withdrawn ones included, oldest first.
  package func grants(
    _ request: ListGrantsRequest
  ) async throws(RPCClientError) -> ListGrantsResponse {
    try await call(WireMethods.listGrants, request)
  }

  /// The catalog in force.
  package func catalog() async throws(RPCClientError) -> CatalogResponse {
    try await call(WireMethods.getCatalog, GetCatalogRequest())
  }

  /// Has the server read its catalog file again. Whether that is in force now is in the answer's
  /// last attempt: a file that is not valid is no error of the call.
  package func reloadCatalog(
    _ request: ReloadCatalogRequest = ReloadCatalogRequest()
  ) async throws(RPCClientError) -> CatalogResponse {
    try await call(WireMethods.reloadCatalog, request)
  }

  /// One page of the change feed.
  package func changes(
    _ request: ListChangesRequest
  ) async throws(RPCClientError) -> ListChangesResponse {
    try await call(WireMethods.listChanges, request)
  }

  /// Imports a response of `verifyReceipt` that somebody kept: what nobody signed. Idempotent:
  /// after an error it may be repeated.
  package func importArchivedResponse(
    _ request: ImportArchivedResponseRequest
  ) async throws(RPCClientError) -> SubmitReceiptResponse {
    try await call(WireMethods.importArchivedResponse, request)
  }

  /// What the server counted since its start, and its version.
  package func statistics() async throws(RPCClientError) -> GetStatisticsResponse {
    try await call(WireMethods.getStatistics, GetStatisticsRequest())
  }
}
