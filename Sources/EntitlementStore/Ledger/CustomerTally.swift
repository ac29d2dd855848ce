import EntitlementDomain

/// What happened to each customer that a write concerns; nothing (an empty set) to some.
struct CustomerTally {
  private var kinds: [CustomerSubject: ChangeKinds] = [:]
  private var gainedChains: [CustomerSubject] = []
  private var mergedAccounts: [CustomerSubject] = []
  private var accounts: [CustomerSubject] = []
  private var lostChains: [CustomerSubject] = []

  /// Where a customer stands in the order of ``customers``.
  enum Place {
    case chain, mergedAccount, account, lostChain
  }

  /// Each in the order in which the write came to it: chains before the accounts, accounts that were
  /// merged before the others, and at last chains that lost their account.
  ///
  /// A chain that an account gets is from then on read as that account: so what is told as its last
  /// revision must be lower than the account's, or reading at that revision would find nothing so
  /// new. So it is with an account that is merged into another. A chain that loses its account is
  /// from then on read as itself.
  var customers: [CustomerSubject] { gainedChains + mergedAccounts + accounts + lostChains }

  subscript(customer: CustomerSubject) -> ChangeKinds { kinds[customer] ?? [] }

  mutating func add(_ added: ChangeKinds, to customer: CustomerSubject, _ place: Place) {
    if kinds[customer] == nil {
      switch place {
      case .chain: gainedChains.append(customer)
      case .mergedAccount: mergedAccounts.append(customer)
      case .account: accounts.append(customer)
      case .lostChain: lostChains.append(customer)
      }
    }
    kinds[customer, default: []].formUnion(added)
  }
}
