import EntitlementDomain

/// The claims of a chain or app transaction since a request last decided its account, as far as the next
/// claim depends on them (R93).
package struct ClaimHistory {
  /// How many of the latest events of a target a store reads: twice as many as the largest
  /// `claims_per_purchase` needs, for steps of other kinds between claims.
  package static let eventLimit = 100
  /// In milliseconds.
  package static let window = 30 * Milliseconds.dayLength

  /// Granted ones that took the target from an account that a submission or a request had named.
  private var claims: [LinkEvent] = []

  /// - Parameter events: of one target, oldest first, with the ids that accounts have now.
  init(_ events: [LinkEvent]) {
    for event in events {
      switch event.reason {
      case .claimed: claims.append(event)
      case .assigned, .unassigned, .transferred, .deleted, .settled: claims = []
      case .named, .yielded, .appAccountToken, .appTransaction, .previousChain, .imported, .merged,
        .refused:
        break
      }
    }
  }

  func count(at now: Milliseconds) -> Int {
    claims.count { now < $0.at.advanced(by: Self.window) }
  }

  /// The first account that lost the target by a claim; nil without one, and if that account was deleted.
  var earliestOwner: AccountID? { claims.first?.from }

  /// Whether a claim by an account would be its first one since it lost the target.
  func isReturn(of account: AccountID) -> Bool {
    claims.contains { $0.from == account } && !claims.contains { $0.to == account }
  }
}
