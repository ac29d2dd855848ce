/// How a caller names a customer within an ``AppScope``.
public enum CustomerSelector: Hashable, Sendable {
  case account(AccountID)
  case originalTransaction(OriginalTransactionID)
  case transaction(TransactionID)
  case appTransaction(AppTransactionID)
  case appAccountToken(AppAccountToken)
}
