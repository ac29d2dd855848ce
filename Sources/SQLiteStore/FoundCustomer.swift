import EntitlementDomain

/// Whom a selector finds, before its facts are read.
enum FoundCustomer {
  /// - isCertain: it is found until one of its own changes says otherwise; false where the selector
  ///   may come to mean another account without one.
  case account(StoredAccount, isCertain: Bool)
  /// A chain without an account.
  case chain(StoredChain)
  /// Chains without an account, and the app transaction that was asked for. Another chain may join
  /// them with any fact.
  case chains([StoredChain], AppTransactionID?)
  case nobody
}
