package import Wire

// Calls of operators: grants, the catalog, the change feed, archived responses, metrics, the server.
extension EntitlementClient {
  /// Grants an entitlement to an account.
  ///
  /// With a grant id in the request, the call is idempotent and can be repeated after an error.
  package func addGrant(
    _ request: AddGrantRequest
  ) async throws(RPCClientError) -> GrantResponse {
    try await call(
      WireMethods.addGrant, request,
      idempotency: request.grantID == nil ? .unknown : .idempotent)
  }

  /// Withdraws a grant. The call is idempotent and can be repeated after an error.
  package func withdrawGrant(
    _ request: WithdrawGrantRequest
  ) async throws(RPCClientError) -> GrantResponse {
    try await call(WireMethods.withdrawGrant, request)
  }

  /// Lists all grants of an account, withdrawn ones included, oldest first.
  package func grants(
    _ request: ListGrantsRequest
  ) async throws(RPCClientError) -> ListGrantsResponse {
    try await call(WireMethods.listGrants, request)
  }

  /// Reads a summary of the active catalog.
  package func catalog() async throws(RPCClientError) -> CatalogResponse {
    try await call(WireMethods.getCatalog, GetCatalogRequest())
  }

  /// Makes the server reload its catalog file. A file that is not valid is not an error of the
  /// call: the last attempt in the answer says whether the new catalog is active.
  package func reloadCatalog(
    _ request: ReloadCatalogRequest = ReloadCatalogRequest()
  ) async throws(RPCClientError) -> CatalogResponse {
    try await call(WireMethods.reloadCatalog, request)
  }

  /// Reads one page of the change feed.
  package func changes(
    _ request: ListChangesRequest
  ) async throws(RPCClientError) -> ListChangesResponse {
    try await call(WireMethods.listChanges, request)
  }

  /// Imports an archived response of `verifyReceipt`, which is not signed.
  ///
  /// The call is idempotent and can be repeated after an error.
  package func importArchivedResponse(
    _ request: ImportArchivedResponseRequest
  ) async throws(RPCClientError) -> SubmitReceiptResponse {
    try await call(WireMethods.importArchivedResponse, request)
  }

  /// Reads the server's counters since its start, and its version.
  package func statistics() async throws(RPCClientError) -> GetStatisticsResponse {
    try await call(WireMethods.getStatistics, GetStatisticsRequest())
  }

  /// Reads which server answers: its version, node, kind of store and catalog.
  ///
  /// - Throws: ``RPCClientError``; `unimplemented` for an older server.
  package func server() async throws(RPCClientError) -> GetServerResponse {
    try await call(WireMethods.getServer, GetServerRequest())
  }
}
