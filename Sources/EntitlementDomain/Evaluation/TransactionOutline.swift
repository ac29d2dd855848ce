/// The fields of a transaction that merging needs. It has no text: copying texts, with their reference
/// counts, would be the most expensive part of an evaluation.
struct TransactionOutline {
  let idHash: UInt64
  let chainHash: UInt64
  let productHash: UInt64
  let lineItemHash: UInt64?
  /// Nil for an auto-renewable subscription.
  let oneTimeKind: OneTimeKind?
  /// Whether the type must be taken from the catalog, because receipts and archived responses do
  /// not contain it (R51).
  let lacksType: Bool
  /// The transaction as a period of an auto-renewable chain, without the product's position.
  let period: Period

  /// A separate function that only reads fields, without branches on texts. Otherwise the compiler would
  /// copy the texts.
  ///
  /// - Returns: nil for another kind of fact.
  @inline(never)
  static func of(_ fact: Fact, at position: Int) -> TransactionOutline? {
    guard case .transaction(let transaction) = fact else { return nil }
    let purchaseDate = transaction.purchaseDate
    let use = OfferUse.of(transaction.offer, transaction.ownership)
    let reason = Reason.of(transaction.transactionReason)
    let hasNoType = isEmpty(transaction.type.rawValue)
    return TransactionOutline(
      idHash: IdentifierInterner.hash(of: transaction.transactionID),
      chainHash: IdentifierInterner.hash(of: transaction.originalTransactionID),
      productHash: IdentifierInterner.hash(of: transaction.productID),
      lineItemHash: transaction.webOrderLineItemID.map { IdentifierInterner.hash(of: $0) },
      oneTimeKind: OneTimeKind.of(transaction.type),
      lacksType: transaction.authority < .signedTransaction && hasNoType,
      period: Period(
        fact: position, start: purchaseDate, end: transaction.expiresDate ?? purchaseDate,
        signedDate: transaction.signedDate,
        firstPurchaseAt: min(purchaseDate, transaction.originalPurchaseDate ?? purchaseDate),
        accessStart: purchaseDate, revocationDate: transaction.revocationDate,
        hasEnd: transaction.expiresDate != nil, isUpgraded: transaction.isUpgraded,
        isPurchase: reason == .purchase, isRenewal: reason == .renewal,
        usesTrial: use.isTrial, usesIntroductoryOffer: use.isIntroductory))
  }
}

/// Which offer a customer used in a period.
private struct OfferUse {
  var isTrial = false
  var isIntroductory = false

  @inline(never)
  @_effects(readonly)
  static func of(_ offer: Offer?, _ ownership: OwnershipType?) -> OfferUse {
    // The offer of a shared or assigned purchase was used by the purchaser (R29).
    guard let offer, ownership == nil || ownership == .purchased else { return OfferUse() }
    return OfferUse(
      isTrial: offer.discountType == .freeTrial, isIntroductory: offer.type == .introductory)
  }
}

/// `transactionReason`.
private enum Reason {
  case purchase
  case renewal
  case other

  /// Compares without counting references; see ``IdentifierBytes``.
  @inline(never)
  @_effects(readonly)
  static func of(_ text: String?) -> Reason {
    guard let text else { return .other }
    return switch text.utf8.count {
    case 8 where text == "PURCHASE": .purchase
    case 7 where text == "RENEWAL": .renewal
    default: .other
    }
  }
}

@inline(never)
@_effects(readonly)
private func isEmpty(_ text: String) -> Bool { text.isEmpty }

/// The same for a renewal info.
struct RenewalOutline {
  let chainHash: UInt64
  let productHash: UInt64?
  /// Without the product's position.
  let renewal: Renewal

  @inline(never)
  static func of(_ fact: Fact, at position: Int) -> RenewalOutline? {
    guard case .renewalInfo(let info) = fact else { return nil }
    return RenewalOutline(
      chainHash: IdentifierInterner.hash(of: info.originalTransactionID),
      productHash: info.productID.map { IdentifierInterner.hash(of: $0) },
      renewal: Renewal.of(info, fact: position))
  }
}
