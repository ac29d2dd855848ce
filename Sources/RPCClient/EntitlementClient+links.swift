package import Wire

// Who owns what, by the caller's own decision. Every change is idempotent: after an error it may be
// repeated.
extension EntitlementClient {
  /// Whom an identifier leads to.
  package func resolveAccount(
    _ request: ResolveAccountRequest
  ) async throws(RPCClientError) -> ResolveAccountResponse {
    try await call(WireMethods.resolveAccount, request)
  }

  /// Gives what has no account to one.
  package func linkAccount(
    _ request: LinkAccountRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.linkAccount, request)
  }

  /// Takes a chain or app transaction from its account.
  package func unlinkAccount(
    _ request: UnlinkAccountRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.unlinkAccount, request)
  }

  /// Gives a chain or app transaction to another account.
  package func transferPurchase(
    _ request: TransferPurchaseRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.transferPurchase, request)
  }

  /// Gives everything of one account to another.
  package func mergeAccounts(
    _ request: MergeAccountsRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.mergeAccounts, request)
  }

  /// What an account owns.
  package func links(
    _ request: ListLinksRequest
  ) async throws(RPCClientError) -> ListLinksResponse {
    try await call(WireMethods.listLinks, request)
  }

  /// Who owned a chain or app transaction, or what an account owned, oldest first.
  package func linkHistory(
    _ request: GetLinkHistoryRequest
  ) async throws(RPCClientError) -> GetLinkHistoryResponse {
    try await call(WireMethods.getLinkHistory, request)
  }
}
