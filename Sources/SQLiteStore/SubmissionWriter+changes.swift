import EntitlementDomain
import EntitlementStore
import GRDB

extension SubmissionWriter {
  /// A customer by its row.
  private enum Subject: Hashable {
    case account(Int64)
    case chain(Int64)
  }

  /// What happened to each customer that the submission concerns; nothing (an empty set) to some.
  private struct Ledger {
    private var chains: [Subject] = []
    private var accounts: [Subject] = []
    private(set) var kinds: [Subject: ChangeKinds] = [:]

    /// Chains before accounts, each in the order in which it came to them. A chain that an account
    /// gets is from then on read as that account: so what is told as its last revision must be
    /// lower than the account's, or reading at that revision would find nothing so new.
    var subjects: [Subject] { chains + accounts }

    mutating func add(_ subject: Subject, _ added: ChangeKinds) {
      if kinds[subject] == nil {
        switch subject {
        case .chain: chains.append(subject)
        case .account: accounts.append(subject)
        }
      }
      kinds[subject, default: []].formUnion(added)
    }
  }

  /// Appends one change for each customer whose facts or links changed, and moves its revision on.
  func appendChanges() throws -> (customers: [CustomerRevision], changed: [CustomerSubject]) {
    let ledger = makeLedger()
    var scopes: [Int64: AppScope] = [:]
    var customers: [CustomerRevision] = []
    var changed: [CustomerSubject] = []
    for subject in ledger.subjects {
      let kinds = ledger.kinds[subject] ?? []
      let sequence = kinds.isEmpty ? nil : try append(kinds, to: subject)
      let customer = try customer(subject, scopes: &scopes)
      customers.append(customer)
      if sequence != nil { changed.append(customer.subject) }
    }
    return (customers, changed)
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

  private func append(_ kinds: ChangeKinds, to subject: Subject) throws -> Int64 {
    let at = receivedAt.rawValue
    switch subject {
    case .account(let id):
      try database.run(.insertChange, [id, nil, kinds.rawValue, at])
      let sequence = database.lastInsertedRowID
      try database.run(.setAccountRevision, [sequence, at, id])
      return sequence
    case .chain(let id):
      try database.run(.insertChange, [nil, id, kinds.rawValue, at])
      let sequence = database.lastInsertedRowID
      try database.run(.setChainRevision, [sequence, at, id])
      return sequence
    }
  }

  private func customer(_ subject: Subject, scopes: inout [Int64: AppScope]) throws
    -> CustomerRevision
  {
    switch subject {
    case .account(let id):
      let account = try linkedAccount(id)
      let scope = try scope(account.scopeID, in: &scopes)
      return CustomerRevision(
        subject: .account(scope, account.accountID), revision: account.revision)
    case .chain(let id):
      guard let chain = try database.chain(rowID: id) else {
        throw StoreError(.corrupt, "a chain is not stored")
      }
      let scope = try scope(chain.scopeID, in: &scopes)
      return CustomerRevision(
        subject: .unlinkedChain(scope, chain.originalTransactionID), revision: chain.revision)
    }
  }

  private func scope(_ id: Int64, in scopes: inout [Int64: AppScope]) throws -> AppScope {
    if let scope = scopes[id] { return scope }
    let scope = try database.scope(rowID: id)
    scopes[id] = scope
    return scope
  }
}
