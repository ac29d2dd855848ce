/// The decision on the account of a chain or an app transaction after a submission (R42, R44).
///
/// The decision is a pure function. The store looks up the candidate accounts, and serialises the
/// decisions on each chain (R41).
package struct LinkDecision: Hashable, Sendable {
  /// The reason why a claim was refused. The link does not change (R44).
  package enum Refusal: Hashable, Sendable {
    /// The link policy refuses the claim, or the submission is not signed.
    case policy
    /// The account has reached the limit of claims per day.
    case limit
    /// This account would get the chain, and has as many as it may have (R68).
    case accountFull(AccountID)
  }

  /// The account after the decision; nil when the chain has none.
  package let accountID: AccountID?
  /// The reason of the link's change; nil when it does not change.
  package let reason: LinkReason?
  /// Nil when there was no claim, or when it was granted. An account without room is refused without
  /// a claim, too.
  package let refusal: Refusal?

  package var isClaimRefused: Bool { refusal != nil }

  /// The chain moves from another account to the named one.
  package var isClaimGranted: Bool { reason == .claimed }

  private init(accountID: AccountID?, reason: LinkReason?, refusal: Refusal? = nil) {
    self.accountID = accountID
    self.reason = reason
    self.refusal = refusal
  }

  /// Decides on one chain or app transaction.
  ///
  /// - Parameters:
  ///   - existing: the account that is linked now.
  ///   - named: the account that the submission names.
  ///   - isNamedUnsigned: whether the submission is not signed by Apple. It can then link a chain
  ///     without an account, and never takes a chain from an account.
  ///   - byToken: the account of the transaction's `appAccountToken`.
  ///   - byAppTransaction: the account linked to the same `appTransactionId`.
  ///   - byPreviousChain: the account linked to `previousOriginalTransactionId` (R7).
  ///   - standing: of the link to `existing`.
  ///   - isFixed: whether the target is an app transaction whose account was decided by name. No
  ///     claim moves it (R71).
  ///   - mayTake: whether the submission may take a chain from an account. One of an import may not,
  ///     whatever the policy (R90).
  ///   - policy: the policy for claims in this app and environment.
  ///   - isWithinLimit: whether `named` may be granted one more claim. Called only if the claim
  ///     would be granted otherwise.
  ///   - hasRoom: whether an account may get the chain (R68). Called only for the account that would
  ///     get it otherwise. No other account is tried then: it would not be the same customer.
  ///   - confersNow: whether the linked purchase is in force now, also if the catalog does not have
  ///     its product. Called only if the policy depends on it.
  /// - Throws: the errors of the closures.
  package static func decide(
    existing: AccountID?, named: AccountID?, byToken: AccountID?, byAppTransaction: AccountID?,
    byPreviousChain: AccountID?, standing: LinkStanding = .named, isFixed: Bool = false,
    isNamedUnsigned: Bool, mayTake: Bool = true, policy: LinkPolicy,
    isWithinLimit: () throws -> Bool,
    hasRoom: (AccountID) throws -> Bool, confersNow: () throws -> Bool
  ) rethrows -> LinkDecision {
    if let existing {
      // Only a named account can claim a linked chain; hints never move it (R43).
      guard let named, named != existing else {
        return LinkDecision(accountID: existing, reason: nil)
      }
      if isNamedUnsigned || !mayTake {
        return LinkDecision(accountID: existing, reason: nil, refusal: .policy)
      }
      let isGranted =
        switch policy {
        case _ where isFixed: false
        // What only a learned hint linked yields to the first name (R72).
        case _ where standing == .hinted: true
        case .transfer: true
        case .transferIfInactive: try !confersNow()
        case .keep: false
        }
      guard isGranted else {
        return LinkDecision(accountID: existing, reason: nil, refusal: .policy)
      }
      guard try isWithinLimit() else {
        return LinkDecision(accountID: existing, reason: nil, refusal: .limit)
      }
      return try hasRoom(named)
        ? LinkDecision(accountID: named, reason: .claimed)
        : LinkDecision(accountID: existing, reason: nil, refusal: .accountFull(named))
    }
    let candidates: [(account: AccountID?, reason: LinkReason)] = [
      (named, isNamedUnsigned ? .imported : .named), (byToken, .appAccountToken),
      (byAppTransaction, .appTransaction), (byPreviousChain, .previousChain),
    ]
    for case (let account?, let reason) in candidates {
      return try hasRoom(account)
        ? LinkDecision(accountID: account, reason: reason)
        : LinkDecision(accountID: nil, reason: nil, refusal: .accountFull(account))
    }
    return LinkDecision(accountID: nil, reason: nil)
  }
}

/// The reason of a link's change. Raw values are stored and must not change.
public enum LinkReason: String, CaseIterable, Hashable, Sendable {
  /// The submission named the account, and the chain had no account.
  case named
  /// The submission named another account than the linked one, and the policy granted the claim
  /// (R44).
  case claimed
  /// By the purchase's `appAccountToken`.
  case appAccountToken
  /// By the purchase's `appTransactionId`.
  case appTransaction
  /// By the purchase's `previousOriginalTransactionId`.
  case previousChain
  /// An unsigned import of an operator named the account, and the chain had no account. Such a link
  /// is no hint for other chains until the account submits something signed.
  case imported
  /// The account was merged into another one: by an operator, or because a submission named an
  /// anonymous account next to its account (R75).
  case merged
  /// An operator linked a chain that had no account.
  case assigned
  /// An operator removed the link. Hints do not restore it.
  case unassigned
  /// An operator moved the chain to another account.
  case transferred
  /// The account was deleted (R46).
  case deleted
}

/// What the account of a chain or app transaction rests on (R70–R72). Raw values are stored and must
/// not change.
package enum LinkStanding: Int, Hashable, Sendable {
  /// A submission named the account, and no other.
  case named = 0
  /// Only a learned hint found the account. The first signed submission that names an account
  /// decides.
  case hinted = 1
  /// It was presented for two accounts. It has an account, and teaches nothing.
  case contested = 2
  /// A request named the account, or a token that a request bound, or that the app derives.
  case decided = 3
}

/// How an `appAccountToken` is known (R71). Raw values are the numbers on the wire, and are stored.
public enum AccountTokenState: Int, Hashable, Sendable, CaseIterable {
  /// A submission named the account with the token, and none named another one.
  case learned = 1
  /// Submissions named several accounts with the token. It links nothing.
  case ambiguous = 2
  /// A request named its account, or it is derived from the account's id. Nothing that is learned
  /// changes it.
  case bound = 3
}

/// The object of a link: a chain, or an app transaction.
public enum LinkTarget: Hashable, Comparable, Sendable {
  // The order of the cases is the sort order: chains before app transactions, each by id.
  /// All transactions with this original transaction id.
  case chain(OriginalTransactionID)
  /// An app transaction.
  case appTransaction(AppTransactionID)
}

extension Fact {
  /// The link target that the fact belongs to.
  public var target: LinkTarget {
    switch self {
    case .transaction(let fact): .chain(fact.originalTransactionID)
    case .renewalInfo(let fact): .chain(fact.originalTransactionID)
    case .appTransaction(let fact): .appTransaction(fact.identity)
    }
  }
}
