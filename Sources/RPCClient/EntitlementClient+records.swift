package import EntitlementDomain
package import Wire

// What is recorded of customers: history, export, deletion, and what nobody owns.
extension EntitlementClient {
  /// What happened to an account, oldest first.
  package func customerHistory(
    _ request: GetCustomerHistoryRequest
  ) async throws(RPCClientError) -> GetCustomerHistoryResponse {
    try await call(WireMethods.getCustomerHistory, request)
  }

  /// All that is known of an account, as one JSON document in pieces. It is held to the client's
  /// timeout as a whole, and to `RPCLimits.streamReadBuffer`: pieces that nobody takes end it.
  package func exportCustomer(
    _ request: ExportCustomerRequest
  ) throws(RPCClientError) -> ExportSequence {
    ExportSequence(
      messages: try stream(WireMethods.exportCustomer, request, timeout: timeout))
  }

  /// Deletes what is known of an account itself, and unlinks all that it owns. Idempotent in that
  /// one that is gone is NOT_FOUND.
  package func deleteCustomer(
    _ request: DeleteCustomerRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.deleteCustomer, request)
  }

  /// One page; ``unlinkedChains(in:pageSize:)`` goes through all.
  package func listUnlinkedChains(
    _ request: ListUnlinkedChainsRequest
  ) async throws(RPCClientError) -> ListUnlinkedChainsResponse {
    try await call(WireMethods.listUnlinkedChains, request)
  }

  /// All chains of an app and environment that no account has, by id, fetched page by page.
  package func unlinkedChains(
    in scope: AppScope, pageSize: Int = ListUnlinkedChainsRequest.largestPageSize
  ) -> PageSequence<UnlinkedChainEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = ListUnlinkedChainsRequest(scope: scope, pageSize: pageSize)
      request.pageToken = token
      let response = try await listUnlinkedChains(request)
      return (response.chains, response.nextPageToken)
    }
  }
}
