extension FactAuthority {
  /// The form whose statements complete those of this form (R92).
  package var completing: FactAuthority? { FactAuthority(rawValue: rawValue - 1) }
}

extension FactPrecedence {
  /// Whether a statement completes a standing one of another form (R92): a receipt completes a JWS that
  /// was signed before it, and an archived response completes a receipt.
  package func isCompleted(by other: FactPrecedence) -> Bool {
    guard other.authority == authority.completing else { return false }
    return authority == .receipt || other.signedDate > signedDate
  }
}

extension TransactionFact {
  /// The transaction with what a statement of another form adds (R92). Its signing date, digest and
  /// authority stay: they are those of the statement that stands.
  package func completed(by other: TransactionFact) -> TransactionFact {
    guard precedence.isCompleted(by: other.precedence) else { return self }
    var fact = self
    guard authority == .receipt else {
      // An upgrade sets a cancellation date in receipts too. It is not a refund (R17).
      if fact.revocationDate == nil, !isUpgraded { fact.revocationDate = other.revocationDate }
      return fact
    }
    fact.subscriptionGroupID = subscriptionGroupID ?? other.subscriptionGroupID
    fact.appAccountToken = appAccountToken ?? other.appAccountToken
    fact.ownership = ownership ?? other.ownership
    fact.isUpgraded = isUpgraded || other.isUpgraded
    if revocationDate != nil, other.revocationDate != nil {
      fact.revocationReason = revocationReason ?? other.revocationReason
    }
    // Of an offer code, a receipt has the flag of a trial only. It names a promotional offer itself.
    if other.offer?.type == .offerCode, offer?.identifier == nil { fact.offer = other.offer }
    return fact
  }
}

extension Fact {
  /// The fact completed by the statement that stands among those of the next form, if there is one (R92).
  func completed(by others: some Sequence<Fact>) -> Fact {
    guard case .transaction(let fact) = self, let form = fact.authority.completing else {
      return self
    }
    let standing = others.lazy.filter { $0.authority == form }.max { $0.precedence < $1.precedence }
    guard case .transaction(let other)? = standing else { return self }
    return .transaction(fact.completed(by: other))
  }
}

extension [Fact] {
  /// Completes the standing version of each transaction by its other versions (R92).
  mutating func completeVersions(of scope: AppScope) {
    guard containsReceipts else { return }
    let transactions = indices.filter { self[$0].kind == .transaction && self[$0].scope == scope }
    for versions in Dictionary(grouping: transactions, by: { self[$0].key }).values {
      completeStanding(of: versions)
    }
  }

  /// Completes, of the transactions of one line item (R6), the one that stands (R92).
  ///
  /// - Parameter positions: those of transactions, each with another id.
  /// - Returns: whether there was anything to complete.
  mutating func completeLineItems(at positions: [Int]) -> Bool {
    guard containsReceipts else { return false }
    for (item, repeats) in Dictionary(grouping: positions, by: { self[$0].lineItem })
    where item != nil {
      completeStanding(of: repeats)
    }
    return true
  }

  /// Mostly all are JWS, which do not complete each other.
  private var containsReceipts: Bool {
    contains { $0.kind == .transaction && $0.authority != .signedTransaction }
  }

  private mutating func completeStanding(of positions: [Int]) {
    guard positions.count > 1,
      let standing = positions.max(by: { self[$0].precedence < self[$1].precedence })
    else { return }
    self[standing] = self[standing].completed(by: positions.map { self[$0] })
  }
}

/// A line item of a chain.
private struct ChainLineItem: Hashable {
  let chain: OriginalTransactionID
  let id: WebOrderLineItemID
}

extension Fact {
  /// Nil without a line item.
  fileprivate var lineItem: ChainLineItem? {
    guard case .transaction(let fact) = self, let id = fact.webOrderLineItemID, !id.rawValue.isEmpty
    else { return nil }
    return ChainLineItem(chain: fact.originalTransactionID, id: id)
  }
}
