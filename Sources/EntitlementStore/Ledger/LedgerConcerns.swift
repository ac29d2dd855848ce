import EntitlementDomain

/// What one write concerns: how it stood before, and what the write did to it. In the order in
/// which the write came to it.
struct LedgerConcerns {
  struct Item {
    let accountBefore: AccountID?
    /// False for a chain that this write made: nobody can hold an answer about it.
    let existedBefore: Bool
    var hasNewFacts = false
    /// The submission claimed it in vain (R44).
    var refusal: LinkDecision.Refusal?
    /// A submission asked whose it is; once is enough.
    var isSettled = false
  }

  private(set) var targets: [ScopedTarget] = []
  private var items: [ScopedTarget: Item] = [:]
  /// Accounts that more befell than that something was linked to them or left them.
  private(set) var accounts: [ScopedAccount] = []
  private(set) var kinds: [ScopedAccount: ChangeKinds] = [:]
  /// Accounts that were merged into another.
  private(set) var mergedAway: Set<ScopedAccount> = []

  subscript(target: ScopedTarget) -> Item? {
    get { items[target] }
    // What is not concerned cannot be changed.
    set { if items[target] != nil, let newValue { items[target] = newValue } }
  }

  /// Does nothing when it was added before.
  mutating func add(_ target: ScopedTarget, _ row: LinkRow?) {
    if items[target] != nil { return }
    targets.append(target)
    items[target] = Item(accountBefore: row?.account, existedBefore: row != nil)
  }

  mutating func add(_ kinds: ChangeKinds, to account: ScopedAccount) {
    if self.kinds[account] == nil { accounts.append(account) }
    self.kinds[account, default: []].formUnion(kinds)
  }

  mutating func addMergedAway(_ account: ScopedAccount) {
    mergedAway.insert(account)
  }
}
