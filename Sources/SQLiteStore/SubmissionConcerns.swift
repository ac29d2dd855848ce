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
  }

  struct AppTransaction {
    /// The account linked now.
    var account: Int64?
    let accountBefore: Int64?
    var hasNewFacts = false
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
  mutating func add(_ key: AppTransactionKey, account: Int64?) {
    if appTransactions[key] != nil { return }
    appTransactionOrder.append(key)
    appTransactions[key] = AppTransaction(account: account, accountBefore: account)
  }
}
