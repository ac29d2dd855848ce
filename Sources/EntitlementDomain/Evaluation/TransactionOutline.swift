/// What joining needs of a transaction: the rest is read where it is told. The copy of a whole one
/// would be the dearest part of an evaluation.
struct TransactionOutline {
  let chain: OriginalTransactionID
  let productID: ProductID
  /// Nil for an auto-renewable subscription.
  let oneTimeKind: OneTimeKind?
  /// The type is to be taken from the catalog: receipts, and responses to
  /// them, do not tell it (R51).
  let lacksType: Bool
  let lineItemHash: UInt64?
  /// As a period of an auto-renewable chain, its product still to be numbered.
  let period: Period

  /// A function of its own that only reads fields: across other calls the compiler would keep a copy
  /// of the whole transaction.
  @inline(never)
  static func of(_ fact: Fact, at position: Int) -> TransactionOutline? {
    guard case .transaction(let transaction) = fact else { return nil }
    let type = transaction.type
    // What is shared with this customer, or assigned to them, was used by who bought it (R29).
    let isOwn = transaction.ownership.map { $0 == .purchased } ?? true
    let offer = isOwn ? transaction.offer : nil
    let purchaseDate = transaction.purchaseDate
    return TransactionOutline(
      chain: transaction.originalTransactionID, productID: transaction.productID,
      oneTimeKind: OneTimeKind(type),
      lacksType: transaction.authority < .signedTransaction && type.rawValue.isEmpty,
      lineItemHash: transaction.webOrderLineItemID.map { IdentifierNumbers.hash(of: $0) },
      period: Period(
        fact: position, start: purchaseDate, end: transaction.expiresDate ?? purchaseDate,
        hasEnd: transaction.expiresDate != nil, revocationDate: transaction.revocationDate,
        signedDate: transaction.signedDate, isUpgraded: transaction.isUpgraded,
        isPurchase: transaction.transactionReason == "PURCHASE",
        usesTrial: offer?.discountType == .freeTrial,
        usesIntroductoryOffer: offer?.type == .introductory,
        firstPurchaseAt: min(purchaseDate, transaction.originalPurchaseDate ?? purchaseDate)))
  }
}
