/// What confers an entitlement, by its position: sources are ordered before they are told, as each
/// carries much text.
struct ConferringSource {
  enum Ground {
    /// Position of a transaction in ``Evidence/facts``.
    case purchase(fact: Int)
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
    case (.purchase(let left), .purchase(let right)):
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
    let origin: EntitlementSource.Origin =
      switch source.ground {
      case .purchase(let fact): evidence.origin(fact)
      case .grant(let position): .grant(grants[position].id)
      case .rule(let position): .grandfathering(grandfathering[position].rule.id)
      }
    return EntitlementSource(origin: origin, since: source.since, until: source.until)
  }
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
