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
    /// The purchase has moved as often as claims may move it (R93).
    case disputed
    /// This account would get the chain, and has as many as it may have (R68).
    case accountFull(AccountID)
  }

  /// What the earlier claims of a purchase say to one more (R93).
  package enum Course: Hashable, Sendable {
    /// It may move again.
    ///
    /// - Parameter isReturn: whether this is the claimer's first claim since it lost the purchase. It is
    ///   free of the claimer's limit.
    case open(isReturn: Bool)
    /// It has moved as often as claims may move it, and stays with this account.
    case settled(AccountID)
  }

  /// The account after the decision; nil when the chain has none.
  package let accountID: AccountID?
  /// The reason of the link's change; nil when it does not change.
  package let reason: LinkReason?
  /// Nil when there was no claim, or when it was granted. An account without room is refused without
  /// a claim, too.
  package let refusal: Refusal?
  /// The purchase goes back to the named account, which a claim had taken it from (R93).
  package let isReturn: Bool
  /// The claim is the one that made the purchase a disputed one (R93).
  package let isSettled: Bool

  package var isClaimRefused: Bool { refusal != nil }

  /// The chain moves from another account to the named one.
  package var isClaimGranted: Bool {
    refusal == nil && [.claimed, .yielded, .settled].contains(reason)
  }

  private init(
    accountID: AccountID?, reason: LinkReason?, refusal: Refusal? = nil, isReturn: Bool = false,
    isSettled: Bool = false
  ) {
    self.accountID = accountID
    self.reason = reason
    self.refusal = refusal
    self.isReturn = isReturn
    self.isSettled = isSettled
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
  ///   - course: what the earlier claims of the purchase say to one by `named`. Called only if the policy
  ///     grants the claim, and something else than a learned hint gave `existing` the purchase.
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
    course: () throws -> Course, isWithinLimit: () throws -> Bool,
    hasRoom: (AccountID) throws -> Bool, confersNow: () throws -> Bool
  ) rethrows -> LinkDecision {
    if let existing {
      // Only a named account can claim a linked chain; hints never move it (R43).
      guard let named, named != existing else {
        return LinkDecision(accountID: existing, reason: nil)
      }
      return try decideClaim(
        of: named, on: existing, standing: standing, isFixed: isFixed,
        mayTake: mayTake && !isNamedUnsigned, policy: policy, course: course,
        isWithinLimit: isWithinLimit, hasRoom: hasRoom, confersNow: confersNow)
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

  /// - Parameter mayTake: whether the submission may take a purchase from an account at all.
  private static func decideClaim(
    of named: AccountID, on existing: AccountID, standing: LinkStanding, isFixed: Bool,
    mayTake: Bool, policy: LinkPolicy, course: () throws -> Course,
    isWithinLimit: () throws -> Bool,
    hasRoom: (AccountID) throws -> Bool, confersNow: () throws -> Bool
  ) rethrows -> LinkDecision {
    func refused(_ refusal: Refusal, isSettled: Bool = false) -> LinkDecision {
      LinkDecision(accountID: existing, reason: nil, refusal: refusal, isSettled: isSettled)
    }
    guard mayTake else { return refused(.policy) }
    let isGranted =
      switch policy {
      case _ where isFixed: false
      // What only a learned hint linked yields to the first name (R72).
      case _ where standing == .hinted: true
      case .transfer: true
      case .transferIfInactive: try !confersNow()
      case .keep: false
      }
    guard isGranted else { return refused(.policy) }
    if standing == .disputed { return refused(.disputed) }
    switch standing == .hinted ? .open(isReturn: false) : try course() {
    case .settled(let owner):
      guard try owner != existing && hasRoom(owner) else {
        return refused(.disputed, isSettled: true)
      }
      return LinkDecision(
        accountID: owner, reason: .settled, refusal: owner == named ? nil : .disputed,
        isReturn: owner == named, isSettled: true)
    case .open(let isReturn):
      guard try isReturn || isWithinLimit() else { return refused(.limit) }
      guard try hasRoom(named) else { return refused(.accountFull(named)) }
      return LinkDecision(
        accountID: named, reason: standing == .hinted ? .yielded : .claimed, isReturn: isReturn)
    }
  }
}

/// The reason of a link's change. Raw values are stored and must not change.
public enum LinkReason: String, CaseIterable, Hashable, Sendable {
  /// The submission named the account, and the chain had no account.
  case named
  /// The submission named another account than the linked one, and the policy granted the claim
  /// (R44).
  case claimed
  /// The submission named another account than the linked one, which only a learned hint had found
  /// (R72).
  case yielded
  /// Claims had moved it as often as they may. It went to the account that has it by proof (R93).
  case settled
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
  /// Nothing changed: a claim was refused (R91). Never the reason of a stored step.
  case refused
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
  /// Claims have moved it as often as they may. It has an account, teaches nothing, and only a request
  /// moves it (R93).
  case disputed = 4

  /// Whether it was presented for two accounts.
  package var isContested: Bool { self == .contested || self == .disputed }
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
