import EntitlementDomain
import EntitlementStore
import GRDB

/// Finds a customer with all its facts and grants within one snapshot, as the table at
/// ``StoredCustomer`` says.
struct CustomerReader {
  let database: Database
  let scope: AppScope

  func customer(_ selector: CustomerSelector) throws -> StoredCustomer {
    guard let scopeID = try database.scopeID(scope) else { return unknown(selector) }
    switch selector {
    case .account(let id):
      guard let account = try database.account(id, scopeID: scopeID) else {
        return unknown(selector)
      }
      return try customer(account)
    case .originalTransaction(let id):
      guard let chain = try database.chain(id, scopeID: scopeID) else { return unknown(selector) }
      return try customer(ofChain: chain)
    case .transaction(let id):
      let key = FactKey(kind: .transaction, identifier: id.rawValue)
      guard let fact = try database.row(.findFact, key.arguments(scopeID: scopeID)),
        let chainRowID: Int64 = fact[1], let chain = try database.chain(rowID: chainRowID)
      else { return unknown(selector) }
      return try customer(ofChain: chain)
    case .appTransaction(let id):
      return try customer(appTransaction: id, scopeID: scopeID)
    case .appAccountToken(let token):
      return try customer(appAccountToken: token, scopeID: scopeID)
    }
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

  private func customer(accountRowID: Int64) throws -> StoredCustomer {
    try customer(database.linkedAccount(accountRowID))
  }

  private func customer(_ account: AccountRow) throws -> StoredCustomer {
    let facts =
      try database.facts(.factsOfAccountChains, [account.id], in: scope)
      + database.facts(.factsOfAccountAppTransactions, [account.id], in: scope)
    return StoredCustomer(
      record: CustomerRecord(
        scope: scope, accountID: account.accountID, revision: account.revision,
        changedAt: account.changedAt, facts: facts,
        grants: try database.grants(ofAccount: account.id, in: scope)),
      subject: .account(scope, account.accountID))
  }

  private func customer(ofChain chain: ChainRow) throws -> StoredCustomer {
    if let account = chain.account { return try customer(accountRowID: account) }
    return StoredCustomer(
      record: CustomerRecord(
        scope: scope, revision: chain.revision, changedAt: chain.changedAt,
        facts: try database.facts(.factsOfChain, [chain.id], in: scope)),
      subject: .unlinkedChain(scope, chain.originalTransactionID))
  }

  /// A chain with an account has given that account to its app transaction id, so that one look
  /// finds the account by either.
  private func customer(appTransaction id: AppTransactionID, scopeID: Int64) throws
    -> StoredCustomer
  {
    let appTransaction = AppTransactionKey(scopeID: scopeID, identity: id)
    if let link = try database.link(of: appTransaction) {
      return try customer(accountRowID: link.account)
    }
    var customer = try customer(
      unlinkedChains: database.rows(.unlinkedChainsByAppTransaction, [scopeID, id.stored]))
    let key = FactKey(kind: .appTransaction, identifier: id.rawValue)
    customer.record.facts += try database.facts(
      .factByKey, key.arguments(scopeID: scopeID), in: scope)
    return customer
  }

  /// A token is known for an account that was named with it. Where nobody was, a chain that
  /// carries it may have its account from elsewhere: who has bought something is not new (R27).
  private func customer(appAccountToken token: AppAccountToken, scopeID: Int64) throws
    -> StoredCustomer
  {
    if let account = try database.row(.findToken, [scopeID, token.stored]) {
      return try customer(accountRowID: account[0])
    }
    if let account = try database.row(.accountOfChainByToken, [scopeID, token.stored]) {
      var customer = try customer(accountRowID: account[0])
      // It may yet become known for another account, without a change of this one.
      customer.subject = nil
      return customer
    }
    return try customer(
      unlinkedChains: database.rows(.unlinkedChainsByToken, [scopeID, token.stored]))
  }

  /// Several chains without an account. Another may join them with any fact, so the answer has no
  /// one subject even when there is one chain.
  private func customer(unlinkedChains rows: [Row]) throws -> StoredCustomer {
    var record = CustomerRecord(scope: scope)
    for row in rows {
      guard let chain = try database.chain(rowID: row[0]) else { continue }
      record.revision = max(record.revision, chain.revision)
      record.facts += try database.facts(.factsOfChain, [chain.id], in: scope)
    }
    return StoredCustomer(record: record, subject: nil)
  }
}

extension FactKey {
  func arguments(scopeID: Int64) throws -> StatementArguments {
    [scopeID, kind.rawValue, try identifier.stored]
  }
}
