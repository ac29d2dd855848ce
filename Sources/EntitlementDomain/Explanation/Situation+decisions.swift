extension Situation {
  /// Why an entitlement is conferred, or why not.
  ///
  /// - Parameter finding: that on this entitlement.
  func decision(on entitlement: EntitlementID, by finding: Finding?) -> Decision {
    guard let finding else {
      return Decision(27, "Nothing that confers \(entitlement.name) is known of this customer.")
    }
    return decision(on: finding.subject, for: entitlement)
  }

  func decision(on subject: Finding.Subject, for entitlement: EntitlementID) -> Decision {
    switch subject {
    case .chain(let position):
      return decision(onChain: position, for: entitlement)
    case .followed(let period, let position):
      let outcome = history.chains[position].outcomeOfFollowed(period, at: now)
      return decision(on: period, outcome: outcome, for: entitlement)
        .resting(on: evidence.transaction(period.fact).authority)
    case .purchase(let window, let position):
      return decision(onWindow: window, of: position)
    case .grant(let position):
      return decision(on: history.grants[position])
    case .grandfathering(let position):
      return decision(onRule: position)
    case .unnamedProduct(let position):
      let product = state.products[position]
      return Decision(
        14,
        "Transaction \(product.standing.transactionID.name) is of \(product.productID.name), which "
          + "the catalog does not name: it confers nothing.")
    }
  }

  /// How a group stands, and by which of its chains (R28).
  func decision(on group: SubscriptionGroupID, by position: Int) -> Decision {
    let others = chains(in: group).filter { $0 != position }
    guard var second = others.first else { return decision(onChain: position, for: nil) }
    for other in others.dropFirst() where isBetter(other, than: second) {
      second = other
    }
    return Decision(
      28,
      "Of \(others.count + 1) chains, \(history.chains[position].id.name) stands above "
        + "\(history.chains[second].id.name) (\(verdicts[second].outcome.status.word)): "
        + bareDecision(onChain: position, for: nil).sentence
    ).resting(on: authority(ofChain: position))
  }

  /// R28, of two chains of a group.
  private func isBetter(_ left: Int, than right: Int) -> Bool {
    let levels = [left, right].map { evidence.products[verdicts[$0].period.product].level }
    return StandingRank.isBetter(
      verdicts[left].standing, than: verdicts[right].standing, level: levels[0] - levels[1])
  }

  /// The chain that decides a group.
  func decidingChain(of group: GroupState) -> Int? {
    history.chains.firstIndex { $0.id == group.standing.originalTransactionID }
  }

  // MARK: Grants

  /// R32.
  func decision(on grant: Grant) -> Decision {
    let name = "Grant \(grant.id.name)"
    if grant.isOver(at: now) {
      if let withdrawal = grant.withdrawal, grant.end == withdrawal.at {
        return Decision(32, "\(name) was withdrawn at \(withdrawal.at.rfc3339).")
      }
      return Decision(32, "\(name) ended at \((grant.end ?? grant.starts).rfc3339).")
    }
    let end = grant.end.map { "until \($0.rfc3339)" } ?? "without an end"
    return grant.isInForce(at: now)
      ? Decision(
        32, "\(name) confers \(grant.entitlementID.name) since \(grant.starts.rfc3339), \(end).")
      : Decision(32, "\(name) begins at \(grant.starts.rfc3339), \(end).")
  }
}
