import EntitlementDomain
import EntitlementStore
import GRDB

/// Finds a customer with all its facts and grants within one snapshot, as the table at
/// ``StoredCustomer`` says.
struct CustomerReader {
  let database: Database
  let scope: AppScope

  func customer(_ selector: CustomerSelector) throws -> StoredCustomer {
    switch try find(selector) {
    case .account(let account, let isCertain): try customer(account, isCertain: isCertain)
    case .chain(let chain): try customer(chain)
    case .chains(let chains, let appTransaction): try customer(chains, appTransaction)
    case .nobody: unknown(selector)
    }
  }

  /// Whom ``customer(_:)`` finds, without the facts.
  func resolve(_ selector: CustomerSelector) throws -> ResolvedCustomer {
    switch try find(selector) {
    case .account(let account, _):
      // Of one that was deleted, only the revision is known.
      ResolvedCustomer(
        subject: account.isDeleted ? nil : .account(scope, account.accountID),
        revision: account.revision)
    case .chain(let chain):
      ResolvedCustomer(
        subject: .unlinkedChain(scope, chain.originalTransactionID), revision: chain.revision)
    case .chains(let chains, _):
      ResolvedCustomer(
        subject: chains.count == 1
          ? .unlinkedChain(scope, chains[0].originalTransactionID) : nil,
        revision: chains.map(\.revision).max() ?? 0)
    case .nobody:
      ResolvedCustomer(subject: nil, revision: 0)
    }
  }

  // MARK: Finding

  private func find(_ selector: CustomerSelector) throws -> FoundCustomer {
    guard let scopeID = try database.scopeID(scope) else { return .nobody }
    switch selector {
    case .account(let id):
      guard let account = try database.meantAccount(id, in: scope) else { return .nobody }
      return .account(account, isCertain: true)
    case .originalTransaction(let id):
      guard let chain = try database.chain(id, scopeID: scopeID) else { return .nobody }
      return try found(chain)
    case .transaction(let id):
      let key = FactKey(kind: .transaction, identifier: id.rawValue)
      guard let fact = try database.row(.chainOfFact, key.arguments(scopeID: scopeID)),
        let chainRowID: Int64 = fact[0], let chain = try database.chain(rowID: chainRowID)
      else { return .nobody }
      return try found(chain)
    case .appTransaction(let id):
      return try find(id, scopeID: scopeID)
    case .appAccountToken(let token):
      return try find(token, scopeID: scopeID)
    }
  }

  private func found(_ chain: StoredChain) throws -> FoundCustomer {
    guard let account = chain.account else { return .chain(chain) }
    return .account(try database.linkedAccount(account), isCertain: true)
  }

  /// A chain with an account has given that account to its app transaction id, so that mostly one
  /// look finds the account by either. Only where somebody took the id from its account, a chain
  /// that carries it tells.
  private func find(_ id: AppTransactionID, scopeID: Int64) throws -> FoundCustomer {
    let link = try database.row(.accountOfAppTransaction, [scopeID, id.stored])
    if let account: Int64 = link?[0] {
      return .account(try database.linkedAccount(account), isCertain: true)
    }
    let byChain = try database.row(.accountOfChainByAppTransaction, [scopeID, id.stored])
    if let account: Int64 = byChain?[1] {
      return .account(try database.linkedAccount(account), isCertain: false)
    }
    return .chains(
      try chains(database.rows(.unlinkedChainsByAppTransaction, [scopeID, id.stored]), scopeID), id)
  }

  /// A token is known for an account that was named with it. Where nobody was, a chain that
  /// carries it may have its account from elsewhere: who has bought something is not new (R27). It
  /// may yet become known for another account, without a change of that one.
  private func find(_ token: AppAccountToken, scopeID: Int64) throws -> FoundCustomer {
    if let known = try database.row(.findToken, [scopeID, token.stored]) {
      return .account(try database.linkedAccount(known[0]), isCertain: true)
    }
    let byChain = try database.row(.accountOfChainByToken, [scopeID, token.stored])
    if let account: Int64 = byChain?[1] {
      return .account(try database.linkedAccount(account), isCertain: false)
    }
    return .chains(
      try chains(database.rows(.unlinkedChainsByToken, [scopeID, token.stored]), scopeID), nil)
  }

  private func chains(_ rows: [Row], _ scopeID: Int64) throws -> [StoredChain] {
    try rows.compactMap { try database.chain($0.identifier(0), scopeID: scopeID) }
  }

  // MARK: Reading

  private func customer(_ account: StoredAccount, isCertain: Bool) throws -> StoredCustomer {
    let facts =
      try database.facts(.factsOfAccountChains, [account.id], in: scope)
      + database.facts(.factsOfAccountAppTransactions, [account.id], in: scope)
    return StoredCustomer(
      record: CustomerRecord(
        scope: scope, accountID: account.accountID, revision: account.revision,
        changedAt: account.changedAt, facts: facts,
        grants: try database.grants(ofAccount: account.id, in: scope)),
      subject: isCertain ? .account(scope, account.accountID) : nil)
  }

  private func customer(_ chain: StoredChain) throws -> StoredCustomer {
    StoredCustomer(
      record: CustomerRecord(
        scope: scope, revision: chain.revision, changedAt: chain.changedAt,
        facts: try database.facts(.factsOfChain, [chain.id], in: scope)),
      subject: .unlinkedChain(scope, chain.originalTransactionID))
  }

  private func customer(_ chains: [StoredChain], _ appTransaction: AppTransactionID?) throws
    -> StoredCustomer
  {
    var record = CustomerRecord(scope: scope)
    for chain in chains {
      record.revision = max(record.revision, chain.revision)
      record.facts += try database.facts(.factsOfChain, [chain.id], in: scope)
    }
    if let appTransaction, let scopeID = try database.scopeID(scope) {
      let key = FactKey(kind: .appTransaction, identifier: appTransaction.rawValue)
      record.facts += try database.facts(.factByKey, key.arguments(scopeID: scopeID), in: scope)
    }
    return StoredCustomer(record: record, subject: nil)
  }

  /// Nothing is known. The answer for an account depends on that account alone; that for anything
  /// else changes with a first fact, of which nobody knows yet whose it will be.
  private func unknown(_ selector: CustomerSelector) -> StoredCustomer {
    guard case .account(let id) = selector else {
      return StoredCustomer(record: CustomerRecord(scope: scope), subject: nil)
    }
    return StoredCustomer(
      record: CustomerRecord(scope: scope, accountID: id), subject: .account(scope, id))
  }
}

extension FactKey {
  func arguments(scopeID: Int64) throws -> StatementArguments {
    [scopeID, kind.rawValue, try identifier.stored]
  }
}
