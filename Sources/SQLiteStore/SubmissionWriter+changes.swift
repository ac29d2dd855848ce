import EntitlementDomain
import EntitlementStore
import GRDB

extension SubmissionWriter {
  /// What happened to each customer that the submission concerns; nothing (an empty set) to some.
  private struct Ledger {
    private var chains: [CustomerRow] = []
    private var accounts: [CustomerRow] = []
    private(set) var kinds: [CustomerRow: ChangeKinds] = [:]

    /// Chains before accounts, each in the order in which it came to them. A chain that an account
    /// gets is from then on read as that account: so what is told as its last revision must be
    /// lower than the account's, or reading at that revision would find nothing so new.
    var customers: [CustomerRow] { chains + accounts }

    mutating func add(_ customer: CustomerRow, _ added: ChangeKinds) {
      if kinds[customer] == nil {
        switch customer {
        case .chain: chains.append(customer)
        case .account: accounts.append(customer)
        }
      }
      kinds[customer, default: []].formUnion(added)
    }
  }

  /// Appends one change for each customer whose facts or links changed, and moves its revision on;
  /// what a notification brought goes to the customer whom it is about.
  ///
  /// - Returns: the customers to tell the submitter of, and all those that changed.
  mutating func appendChanges(with findings: NotificationFindings?) throws
    -> (customers: [CustomerRevision], changed: [CustomerSubject])
  {
    var ledger = makeLedger()
    if let customer = findings?.customer { ledger.add(customer, .events) }
    let concealed = concerns.accountsToConceal
    var customers: [CustomerRevision] = []
    var changed: [CustomerSubject] = []
    for row in ledger.customers {
      let kinds = ledger.kinds[row] ?? []
      if !kinds.isEmpty {
        try database.appendChange(
          kinds, of: row, scopeID: try scopeID(of: row),
          events: findings?.customer == row ? findings?.events ?? [] : [], at: receivedAt)
      }
      let customer = try customer(row)
      if !isConcealed(row, concealed) { customers.append(customer) }
      if kinds.movesRevision { changed.append(customer.subject) }
    }
    if let findings, findings.customer == nil {
      try database.appendChange(
        .events, of: nil, scopeID: findings.scopeID, events: findings.events, at: receivedAt)
    }
    return (customers, changed)
  }

  /// A chain that went to an account which is not to be told of is not told of either.
  private func isConcealed(_ customer: CustomerRow, _ accounts: Set<Int64>) -> Bool {
    switch customer {
    case .account(let id): accounts.contains(id)
    case .chain(let id): concerns.chains[id]?.row.account.map(accounts.contains) ?? false
    }
  }

  private func makeLedger() -> Ledger {
    var ledger = Ledger()
    for chain in concerns.chainOrder.compactMap({ concerns.chains[$0] }) {
      let facts: ChangeKinds = chain.hasNewFacts ? .facts : []
      switch (chain.accountBefore, chain.row.account) {
      case (let before, let now?) where before == now:
        ledger.add(.account(now), facts)
      case (let before?, let now?):
        ledger.add(.account(now), facts.union(.linked))
        ledger.add(.account(before), .unlinked)
      case (nil, let now?):
        ledger.add(.account(now), facts.union(.linked))
        if chain.existedBefore { ledger.add(.chain(chain.row.id), .unlinked) }
      case (_, nil):
        ledger.add(.chain(chain.row.id), facts)
      }
    }
    for item in concerns.appTransactionOrder.compactMap({ concerns.appTransactions[$0] }) {
      // Without an account it is nobody's yet: there is no customer to tell of it.
      guard let now = item.account else { continue }
      let isLinkedNow = item.accountBefore != now
      let facts: ChangeKinds = item.hasNewFacts ? .facts : []
      ledger.add(.account(now), isLinkedNow ? facts.union(.linked) : facts)
      if let before = item.accountBefore, isLinkedNow {
        ledger.add(.account(before), .unlinked)
      }
    }
    return ledger
  }

  private func scopeID(of customer: CustomerRow) throws -> Int64 {
    switch customer {
    case .account(let id): try database.linkedAccount(id).scopeID
    case .chain(let id): try storedChain(id).scopeID
    }
  }

  private mutating func customer(_ row: CustomerRow) throws -> CustomerRevision {
    switch row {
    case .account(let id):
      let account = try database.linkedAccount(id)
      return CustomerRevision(
        subject: .account(try scope(account.scopeID), account.accountID),
        revision: account.revision)
    case .chain(let id):
      let chain = try storedChain(id)
      return CustomerRevision(
        subject: .unlinkedChain(try scope(chain.scopeID), chain.originalTransactionID),
        revision: chain.revision)
    }
  }

  private func storedChain(_ id: Int64) throws -> ChainRow {
    guard let chain = try database.chain(rowID: id) else {
      throw StoreError(.corrupt, "a chain is not stored")
    }
    return chain
  }
}
