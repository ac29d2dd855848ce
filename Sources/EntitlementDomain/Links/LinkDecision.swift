/// Decides which account a chain or an app transaction belongs to when a fact of it arrives (R42,
/// R44). Pure: the store looks up the candidates and serialises decisions per chain (R41).
package struct LinkDecision: Hashable, Sendable {
  /// The account afterwards; nil leaves the chain without a link.
  package let accountID: AccountID?
  /// Why the link changed; nil when it did not.
  package let reason: LinkReason?
  /// A claim was refused: the link stays (R44).
  package let isClaimRefused: Bool

  private init(accountID: AccountID?, reason: LinkReason?, isClaimRefused: Bool = false) {
    self.accountID = accountID
    self.reason = reason
    self.isClaimRefused = isClaimRefused
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
  ///   - confersNow: whether what is linked is in force now, in the catalog or not; asked only
  ///     where the policy depends on it.
  package static func decide(
    existing: AccountID?, named: AccountID?, byToken: AccountID?, byAppTransaction: AccountID?,
    byPreviousChain: AccountID?, isNamedUnsigned: Bool = false, policy: LinkPolicy = .transfer,
    confersNow: () throws -> Bool = { true }
  ) rethrows -> LinkDecision {
    if let existing {
      // Only an account that is named claims a linked chain: hints never move it (R43).
      guard let named, named != existing else {
        return LinkDecision(accountID: existing, reason: nil)
      }
      let isGranted =
        switch policy {
        case _ where isNamedUnsigned: false
        case .transfer: true
        case .transferIfInactive: try !confersNow()
        case .keep: false
        }
      return isGranted
        ? LinkDecision(accountID: named, reason: .claimed)
        : LinkDecision(accountID: existing, reason: nil, isClaimRefused: true)
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

/// Why a link changed. Raw values are stored: they keep their meaning.
package enum LinkReason: String, Hashable, Sendable {
  /// The submission named the account, and the chain had none.
  case named
  /// The submission named another account than the linked one, and the policy granted the claim
  /// (R44).
  case claimed
  case appAccountToken
  case appTransaction
  case previousChain
  /// An operator's import of what nobody signed named the account, and there was none. Such a link
  /// leads nothing else to the account until the account comes with something signed.
  case imported
}
