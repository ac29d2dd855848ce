/// What confers an entitlement, by its position: sources are ordered before they are told, as each
/// carries much text.
struct ConferringSource {
  enum Ground {
    /// Positions in ``Evidence/facts``: of a transaction, and of the renewal info that alone keeps
    /// it in force after its end (R19, R24).
    case purchase(fact: Int, renewal: Int? = nil)
    /// Position in ``History/grants``.
    case grant(Int)
    /// Position in ``History/grandfathering``.
    case rule(Int)
  }

  let ground: Ground
  let since: Milliseconds
  /// Nil when it has no end.
  let until: Milliseconds?
}

extension Evidence {
  /// Latest end first; then purchases by transaction id, grants and grandfathering rules by id.
  func isTold(_ left: ConferringSource, before right: ConferringSource) -> Bool {
    let (leftEnd, rightEnd) = (left.until ?? Milliseconds(.max), right.until ?? Milliseconds(.max))
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    switch (left.ground, right.ground) {
    case (.purchase(let left, _), .purchase(let right, _)):
      return transaction(left).transactionID < transaction(right).transactionID
    case (.grant(let left), .grant(let right)), (.rule(let left), .rule(let right)):
      // Both lists are in the order of their ids.
      return left < right
    default:
      return left.ground.rank < right.ground.rank
    }
  }
}

extension History {
  func told(_ source: ConferringSource) -> EntitlementSource {
    let origin: EntitlementSource.Origin
    var authority: FactAuthority?
    switch source.ground {
    case .purchase(let fact, let renewal):
      let transaction = evidence.transaction(fact)
      origin = transaction.origin
      authority = transaction.authority
      // It rests on both, and so on the weaker.
      if let renewal {
        authority = min(transaction.authority, evidence.renewalInfo(renewal).authority)
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

extension Evidence {
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
