/// A source of an entitlement, by its position. Sources are sorted in this form, because an
/// ``EntitlementSource`` has many strings.
struct ConferringSource {
  enum Ground {
    /// Positions in ``FactTable/facts`` of a transaction, and of the renewal info that extends
    /// access after the period's end (R19, R24).
    case purchase(fact: Int, renewal: Int? = nil)
    /// A position in ``History/grants``.
    case grant(Int)
    /// A position in ``History/grandfathering``.
    case rule(Int)
  }

  let ground: Ground
  let since: Milliseconds
  /// Nil when the source has no end.
  let until: Milliseconds?
}

extension FactTable {
  /// The order of sources: the latest end first; then purchases by transaction id, grants by id,
  /// and grandfathering rules by id.
  func isOrdered(_ left: ConferringSource, before right: ConferringSource) -> Bool {
    let (leftEnd, rightEnd) = (left.until ?? Milliseconds(.max), right.until ?? Milliseconds(.max))
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    switch (left.ground, right.ground) {
    case (.purchase(let left, _), .purchase(let right, _)):
      return transaction(left).transactionID < transaction(right).transactionID
    case (.grant(let left), .grant(let right)), (.rule(let left), .rule(let right)):
      // Both lists are sorted by id.
      return left < right
    default:
      return left.ground.rank < right.ground.rank
    }
  }
}

extension History {
  func entitlementSource(for source: ConferringSource) -> EntitlementSource {
    let origin: EntitlementSource.Origin
    var authority: FactAuthority?
    switch source.ground {
    case .purchase(let fact, let renewal):
      let transaction = table.transaction(fact)
      origin = transaction.origin
      authority = transaction.authority
      // The source depends on both facts, so the lower authority counts.
      if let renewal {
        authority = min(transaction.authority, table.renewalInfo(renewal).authority)
      }
    case .grant(let position):
      origin = .grant(grants[position].id)
    case .rule(let position):
      origin = .grandfathering(grandfathering[position].rule.id)
      authority = grandfathering[position].verdict.evidence
    }
    return EntitlementSource(
      origin: origin, since: source.since, until: source.until, evidence: authority)
  }
}

extension TransactionFact {
  fileprivate var origin: EntitlementSource.Origin {
    .purchase(transactionID, chain: originalTransactionID, product: productID)
  }
}

extension FactTable {
  /// - Parameter fact: the position of a transaction.
  func origin(_ fact: Int) -> EntitlementSource.Origin { transaction(fact).origin }
}

extension ConferringSource.Ground {
  fileprivate var rank: Int {
    switch self {
    case .purchase: 0
    case .grant: 1
    case .rule: 2
    }
  }
}
