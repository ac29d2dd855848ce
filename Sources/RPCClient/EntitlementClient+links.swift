public import Wire

// The owners of purchases, as the caller decides them. Each change is idempotent.
extension EntitlementClient {
  /// Finds the customer that an identifier belongs to.
  ///
  /// - Parameter request: the identifier, and the app and environment.
  /// - Returns: an account, or a chain that no account has claimed; nil when none is known.
  /// - Throws: ``RPCClientError``.
  public func resolveAccount(
    _ request: ResolveAccountRequest
  ) async throws(RPCClientError) -> ResolveAccountResponse {
    try await call(WireMethods.resolveAccount, request)
  }

  /// Links a chain or app transaction without an account to an account.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: what to link, the account, and the reason and author for the history.
  /// - Returns: what changed, and the revisions of the customers concerned.
  /// - Throws: ``RPCClientError``; `alreadyExists` when it belongs to another account, `notFound`
  ///   when nothing is known of it.
  public func linkAccount(
    _ request: LinkAccountRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.linkAccount, request)
  }

  /// Unlinks a chain or app transaction from its account. Afterwards only a claim or a link gives
  /// it an account again.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: what to unlink, and the reason and author for the history.
  /// - Returns: what changed, and the revisions of the customers concerned.
  /// - Throws: ``RPCClientError``; `notFound` when nothing is known of it.
  public func unlinkAccount(
    _ request: UnlinkAccountRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.unlinkAccount, request)
  }

  /// Transfers a chain or app transaction to another account.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: what to transfer, the new account, optionally the current account, and
  ///   the reason and author for the history.
  /// - Returns: what changed, and the revisions of the customers concerned.
  /// - Throws: ``RPCClientError``; `failedPrecondition` when it does not belong to the account that
  ///   the request names as the current one, `notFound` when nothing is known of it.
  public func transferPurchase(
    _ request: TransferPurchaseRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.transferPurchase, request)
  }

  /// Merges an account into another one. The other account gets everything, and the merged
  /// account's id stands for it from then on.
  ///
  /// The call is idempotent and can be repeated after an error.
  ///
  /// - Parameter request: both accounts, and the reason and author for the history.
  /// - Returns: what changed, and the revisions of the customers concerned.
  /// - Throws: ``RPCClientError``; `notFound` when nothing is known of the account to merge.
  public func mergeAccounts(
    _ request: MergeAccountsRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.mergeAccounts, request)
  }

  /// Lists the chains and app transactions of an account.
  ///
  /// - Parameter request: the account, and the app and environment.
  /// - Returns: at most 10,000 links, chains before app transactions, then in the order of their
  ///   ids.
  /// - Throws: ``RPCClientError``.
  public func links(
    _ request: ListLinksRequest
  ) async throws(RPCClientError) -> ListLinksResponse {
    try await call(WireMethods.listLinks, request)
  }

  /// Says which account an `appAccountToken` belongs to, over everything that was learned, and links
  /// the purchases that carry it and have no account.
  ///
  /// - Parameter request: the token, the account, the author and the reason.
  /// - Returns: what changed.
  /// - Throws: ``RPCClientError``.
  public func bindAccountToken(
    _ request: BindAccountTokenRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.bindAccountToken, request)
  }

  /// Reads one page of the tokens of an account, or of the ambiguous tokens of an app.
  ///
  /// - Parameter request: the account, and the app and environment.
  /// - Returns: the tokens, in their order.
  /// - Throws: ``RPCClientError``.
  public func accountTokens(
    _ request: ListAccountTokensRequest
  ) async throws(RPCClientError) -> ListAccountTokensResponse {
    try await call(WireMethods.listAccountTokens, request)
  }

  /// Lists the former and current owners of a chain or app transaction, or all links of an account.
  ///
  /// - Parameter request: the chain, app transaction or account.
  /// - Returns: the events, oldest first; the latest ``GetLinkHistoryResponse/maximumEvents`` when
  ///   there are more.
  /// - Throws: ``RPCClientError``.
  public func linkHistory(
    _ request: GetLinkHistoryRequest
  ) async throws(RPCClientError) -> GetLinkHistoryResponse {
    try await call(WireMethods.getLinkHistory, request)
  }
}
