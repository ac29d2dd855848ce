public import Wire

// Who owns what, by the caller's own decision. Every change is idempotent: after an error it may be
// repeated.
extension EntitlementClient {
  /// Whom an identifier leads to.
  public func resolveAccount(
    _ request: ResolveAccountRequest
  ) async throws(RPCClientError) -> ResolveAccountResponse {
    try await call(WireMethods.resolveAccount, request)
  }

  /// Gives what has no account to one.
  public func linkAccount(
    _ request: LinkAccountRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.linkAccount, request)
  }

  /// Takes a chain or app transaction from its account.
  public func unlinkAccount(
    _ request: UnlinkAccountRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.unlinkAccount, request)
  }

  /// Gives a chain or app transaction to another account.
  public func transferPurchase(
    _ request: TransferPurchaseRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.transferPurchase, request)
  }

  /// Gives everything of one account to another.
  public func mergeAccounts(
    _ request: MergeAccountsRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.mergeAccounts, request)
  }

  /// What an account owns.
  public func links(
    _ request: ListLinksRequest
  ) async throws(RPCClientError) -> ListLinksResponse {
    try await call(WireMethods.listLinks, request)
  }

  /// Who owned a chain or app transaction, or what an account owned, oldest first.
  public func linkHistory(
    _ request: GetLinkHistoryRequest
  ) async throws(RPCClientError) -> GetLinkHistoryResponse {
    try await call(WireMethods.getLinkHistory, request)
  }
}
