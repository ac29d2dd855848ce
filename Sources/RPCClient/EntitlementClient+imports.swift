package import Wire

// Imports of accounts, for operators.
extension EntitlementClient {
  /// Adds rows to an import. Repeating the call changes nothing.
  ///
  /// - Throws: ``RPCClientError``; `failedPrecondition` when the server has no key of the App Store Server
  ///   API for the app, or the import is of another app.
  package func importAccounts(
    _ request: ImportAccountsRequest
  ) async throws(RPCClientError) -> ImportAccountsResponse {
    try await call(WireMethods.importAccounts, request)
  }

  /// Reads how far an import is.
  ///
  /// - Throws: ``RPCClientError``; `notFound` for an unknown import.
  package func getImport(
    _ request: GetImportRequest
  ) async throws(RPCClientError) -> GetImportResponse {
    try await call(WireMethods.getImport, request)
  }

  /// Reads one page of the imports. ``imports(_:)`` reads all pages.
  package func listImports(
    _ request: ListImportsRequest
  ) async throws(RPCClientError) -> ListImportsResponse {
    try await call(WireMethods.listImports, request)
  }

  /// All imports that a request selects. Each page is requested when the iteration reaches it.
  package func imports(_ request: ListImportsRequest) -> PageSequence<ImportEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = request
      request.pageToken = token
      let response = try await listImports(request)
      return (response.imports, response.nextPageToken)
    }
  }

  /// Reads one page of the rows of an import. ``importRows(_:)`` reads all pages.
  ///
  /// - Throws: ``RPCClientError``; `notFound` for an unknown import.
  package func listImportRows(
    _ request: ListImportRowsRequest
  ) async throws(RPCClientError) -> ListImportRowsResponse {
    try await call(WireMethods.listImportRows, request)
  }

  /// All rows that a request selects. Each page is requested when the iteration reaches it.
  package func importRows(_ request: ListImportRowsRequest) -> PageSequence<ImportRowEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = request
      request.pageToken = token
      let response = try await listImportRows(request)
      return (response.rows, response.nextPageToken)
    }
  }

  /// Cancels, repeats or deletes the rows of an import. The call is to be repeated until its answer is
  /// complete.
  ///
  /// - Throws: ``RPCClientError``; `notFound` for an unknown import.
  package func changeImport(
    _ request: ChangeImportRequest
  ) async throws(RPCClientError) -> ChangeImportResponse {
    try await call(WireMethods.changeImport, request)
  }
}
