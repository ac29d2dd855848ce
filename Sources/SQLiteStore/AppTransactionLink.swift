import GRDB

/// A row of `app_transactions`: the account that an app transaction id is linked to.
struct AppTransactionLink {
  /// The account's row.
  let account: Int64
  /// Nobody signed what the account was named with: the link leads nothing else to it.
  let isUnsigned: Bool
}

extension Database {
  func link(of appTransaction: AppTransactionKey) throws -> AppTransactionLink? {
    try row(.findAppTransaction, [appTransaction.scopeID, appTransaction.identity.stored])
      .map { AppTransactionLink(account: $0[0], isUnsigned: $0[1]) }
  }
}
