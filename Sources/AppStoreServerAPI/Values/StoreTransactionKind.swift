package import EntitlementDomain

/// The kinds of ids that find a customer's purchases: where Apple's page says *any*, the API takes
/// a transaction id, an original transaction id or an app transaction id.
package protocol StoreTransactionKind: SendableMetatype {}

extension TransactionKind: StoreTransactionKind {}
extension ChainKind: StoreTransactionKind {}
extension AppTransactionKind: StoreTransactionKind {}
