package import Wire

// The audit trail, for operators.
extension EntitlementClient {
  /// Reads one page of the audit trail. ``auditEntries(_:)`` reads all pages.
  package func listAuditEntries(
    _ request: ListAuditEntriesRequest
  ) async throws(RPCClientError) -> ListAuditEntriesResponse {
    try await call(WireMethods.listAuditEntries, request)
  }

  /// Reads one page of the seals of the audit trail.
  package func listAuditSeals(
    _ request: ListAuditSealsRequest
  ) async throws(RPCClientError) -> ListAuditSealsResponse {
    try await call(WireMethods.listAuditSeals, request)
  }

  /// All entries of the audit trail that a request selects. Each page is requested when the
  /// iteration reaches it.
  package func auditEntries(_ request: ListAuditEntriesRequest) -> PageSequence<AuditedCallEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = request
      request.pageToken = token
      let response = try await listAuditEntries(request)
      return (response.entries, response.nextPageToken)
    }
  }
}
