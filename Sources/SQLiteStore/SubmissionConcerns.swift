import EntitlementStore

/// The chains and app transactions that a submission concerns: how they stood before it, and what
/// it did to them. In the order in which the submission came to them.
struct SubmissionConcerns {
  struct Chain {
    /// As it stands now.
    var row: ChainRow
    let accountBefore: Int64?
    /// False for a chain that this submission made: nobody can hold an answer about it.
    let existedBefore: Bool
    var hasNewFacts = false
    /// The submission claimed it, and the app's policy keeps it where it is (R44).
    var isClaimRefused = false
  }

  struct AppTransaction {
    /// The account linked now.
    var account: Int64?
    let accountBefore: Int64?
    /// Nobody signed what the account was named with: the link leads nothing else to it.
    var isLinkUnsigned: Bool
    var hasNewFacts = false
    /// As for a chain.
    var isClaimRefused = false
  }

  private(set) var chainOrder: [Int64] = []
  private(set) var appTransactionOrder: [AppTransactionKey] = []
  var chains: [Int64: Chain] = [:]
  var appTransactions: [AppTransactionKey: AppTransaction] = [:]

  /// Does nothing when the chain was added before.
  mutating func add(_ row: ChainRow, existedBefore: Bool) {
    if chains[row.id] != nil { return }
    chainOrder.append(row.id)
    chains[row.id] = Chain(row: row, accountBefore: row.account, existedBefore: existedBefore)
  }

  /// Does nothing when the app transaction was added before.
  mutating func add(_ key: AppTransactionKey, _ link: AppTransactionLink?) {
    if appTransactions[key] != nil { return }
    appTransactionOrder.append(key)
    appTransactions[key] = AppTransaction(
      account: link?.account, accountBefore: link?.account,
      isLinkUnsigned: link?.isUnsigned ?? false)
  }

  /// What the whole submission meant for the owner of a fact: the same for all facts of one chain,
  /// in whatever order they came.
  func linkOutcome(of merge: FactMerge) -> LinkOutcome {
    if let chain = merge.chainRowID.flatMap({ chains[$0] }) {
      return LinkOutcome(
        before: chain.accountBefore, now: chain.row.account, isClaimRefused: chain.isClaimRefused)
    }
    if let item = merge.appTransaction.flatMap({ appTransactions[$0] }) {
      return LinkOutcome(
        before: item.accountBefore, now: item.account, isClaimRefused: item.isClaimRefused)
    }
    return .unlinked
  }

  func isClaimRefused(_ merge: FactMerge) -> Bool {
    linkOutcome(of: merge) == .alreadyLinked
  }

  /// The accounts that keep what the submission claimed in vain. Its answer says nothing of them
  /// (R44), not even for another reason.
  var accountsToConceal: Set<Int64> {
    let ofChains = chains.values.filter(\.isClaimRefused).compactMap(\.row.account)
    let ofAppTransactions = appTransactions.values.filter(\.isClaimRefused).compactMap(\.account)
    return Set(ofChains + ofAppTransactions)
  }
}

extension LinkOutcome {
  /// - Parameters:
  ///   - before: the account's row before the submission.
  ///   - now: that after it.
  fileprivate init(before: Int64?, now: Int64?, isClaimRefused: Bool) {
    switch (before, now) {
    case _ where isClaimRefused: self = .alreadyLinked
    case (_, nil): self = .unlinked
    case (nil, _): self = .linked
    case (let before, let now): self = before == now ? .unchanged : .transferred
    }
  }
}
