/// Decides which account a chain or an app transaction belongs to when a fact of it arrives (R42,
/// R44). Pure: the store looks up the candidates and serialises decisions per chain (R41).
package struct LinkDecision: Hashable, Sendable {
  /// Why a claim was refused: the link stays (R44).
  package enum Refusal: Hashable, Sendable {
    /// By the app's policy, or because nobody signed what claims.
    case policy
    /// The claimer has claimed as much as one may in a day.
    case limit
  }

  /// The account afterwards; nil leaves the chain without a link.
  package let accountID: AccountID?
  /// Why the link changed; nil when it did not. `.merged`: the whole account that it was linked to
  /// has to be merged into `accountID`.
  package let reason: LinkReason?
  /// Nil when there was no claim, or it was granted.
  package let refusal: Refusal?

  package var isClaimRefused: Bool { refusal != nil }

  /// Something left another account for the one that was named.
  package var isClaimGranted: Bool { reason == .claimed || reason == .merged }

  private init(accountID: AccountID?, reason: LinkReason?, refusal: Refusal? = nil) {
    self.accountID = accountID
    self.reason = reason
    self.refusal = refusal
  }

  /// - Parameters:
  ///   - existing: the account linked now.
  ///   - named: the account that the submission names.
  ///   - isNamedUnsigned: whether it names it with nothing that Apple signed. Such a name is as good
  ///     as any for what has no account; it never takes something from one.
  ///   - byToken: the account known for the transaction's `appAccountToken`.
  ///   - byAppTransaction: the account linked to the same `appTransactionId`.
  ///   - byPreviousChain: the account linked to `previousOriginalTransactionId` (R7).
  ///   - policy: what becomes of a claim in this app and environment.
  ///   - isMerge: whether `existing` is anonymous and `named` is not: then no policy keeps the one
  ///     from being merged into the other.
  ///   - isWithinLimit: whether whoever is named may claim something more today; asked only of what
  ///     would be granted.
  ///   - confersNow: whether what is linked is in force now, in the catalog or not; asked only
  ///     where the policy depends on it.
  package static func decide(
    existing: AccountID?, named: AccountID?, byToken: AccountID?, byAppTransaction: AccountID?,
    byPreviousChain: AccountID?, isNamedUnsigned: Bool, policy: LinkPolicy,
    isMerge: () throws -> Bool, isWithinLimit: () throws -> Bool, confersNow: () throws -> Bool
  ) rethrows -> LinkDecision {
    if let existing {
      // Only an account that is named claims a linked chain: hints never move it (R43).
      guard let named, named != existing else {
        return LinkDecision(accountID: existing, reason: nil)
      }
      if isNamedUnsigned {
        return LinkDecision(accountID: existing, reason: nil, refusal: .policy)
      }
      let isMerge = try isMerge()
      let isGranted =
        switch policy {
        case _ where isMerge: true
        case .transfer: true
        case .transferIfInactive: try !confersNow()
        case .keep: false
        }
      guard isGranted else {
        return LinkDecision(accountID: existing, reason: nil, refusal: .policy)
      }
      return try isWithinLimit()
        ? LinkDecision(accountID: named, reason: isMerge ? .merged : .claimed)
        : LinkDecision(accountID: existing, reason: nil, refusal: .limit)
    }
    if let named {
      return LinkDecision(accountID: named, reason: isNamedUnsigned ? .imported : .named)
    }
    if let byToken { return LinkDecision(accountID: byToken, reason: .appAccountToken) }
    if let byAppTransaction {
      return LinkDecision(accountID: byAppTransaction, reason: .appTransaction)
    }
    if let byPreviousChain {
      return LinkDecision(accountID: byPreviousChain, reason: .previousChain)
    }
    return LinkDecision(accountID: nil, reason: nil)
  }
}
