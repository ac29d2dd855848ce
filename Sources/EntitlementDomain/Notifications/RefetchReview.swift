/// Judges whether what was fetched explains why it was fetched (R80).
package enum RefetchReview {
  /// The reasons of a refetch that the facts still give. The App Store's answers were merged before.
  ///
  /// - Parameters:
  ///   - facts: the standing facts; those of other chains are ignored.
  ///   - status: the App Store's present status of the chain; nil if it told none.
  ///   - hasPayload: whether a payload of the chain was fetched and accepted.
  ///   - moment: the present time.
  /// - Returns: some of `reasons`.
  package static func remaining(
    _ reasons: Set<RefetchReason>, of chain: OriginalTransactionID, in scope: AppScope,
    facts: [Fact], status: SubscriptionStatus?, hasPayload: Bool, catalog: Catalog,
    at moment: Milliseconds
  ) -> Set<RefetchReason> {
    let facts = facts.filter { $0.chain == chain && $0.scope == scope }
    // The operator's leeway (R24) is not part of Apple's view.
    var catalog = catalog
    catalog.renewalLeeway = 0
    let state = Evaluation.state(
      of: CustomerRecord(scope: scope, facts: facts), catalog: catalog, at: moment)
    // The other reasons are those of subscriptions. Without one, nothing is known to be right.
    let standing = state.subscriptionStanding
    let notices = standing?.notices ?? [.successorMissing, .predecessorMissing, .renewalOverdue]
    let agrees = status != nil && status == standing.flatMap { SubscriptionStatus($0.status) }
    return reasons.filter { reason in
      switch reason {
      case .successorMissing: notices.contains(.successorMissing)
      case .predecessorMissing: notices.contains(.predecessorMissing)
      case .statusMismatch: !agrees
      case .renewalOverdue: notices.contains(.renewalOverdue) && !agrees
      case .payloadMissing: !hasPayload
      }
    }
  }
}

extension CustomerState {
  /// The standing of a state with the facts of one chain: that of its group. If neither the
  /// transactions nor the catalog name a group, the product with the best status decides (R28). Nil
  /// without a subscription.
  var subscriptionStanding: Standing? {
    if let group = groups.first { return group.standing }
    return products.map(\.standing)
      .filter { $0.productType == .autoRenewable }
      .min { $0.status.rawValue < $1.status.rawValue }
  }
}
