import EntitlementDomain
import EntitlementStore
import GRDB

/// Looks up a customer with all facts and grants in one snapshot, as the table at
/// ``StoredCustomer`` specifies.
struct SQLiteCustomerReader {
  let database: Database
  let scope: AppScope
  /// Whether records have the versions of their facts.
  var includesVersions = false
  /// Called for each row of a fact or version. An error ends the reading.
  var reads: () throws -> Void = {}

  func customer(_ selector: CustomerSelector) throws -> SQLiteCustomerRows {
    switch try find(selector) {
    case .account(let account, let isStable): try customer(account, isStable: isStable)
    case .chain(let chain): try customer(chain)
    case .chains(let chains, let appTransaction): try customer(chains, appTransaction)
    case .notFound: SQLiteCustomerRows(customer: unknown(selector))
    }
  }

  /// The customer that ``customer(_:)`` finds, without facts.
  func resolve(_ selector: CustomerSelector) throws -> ResolvedCustomer {
    switch try find(selector) {
    case .account(let account, _):
      // Only the revision of a deleted account is known.
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
    case .notFound:
      ResolvedCustomer(subject: nil, revision: 0)
    }
  }

  // MARK: Finding

  private func find(_ selector: CustomerSelector) throws -> SQLiteFoundCustomer {
    guard let scopeID = try database.scopeID(scope) else { return .notFound }
    switch selector {
    case .account(let id):
      guard let account = try database.resolvedAccount(id, in: scope) else { return .notFound }
      return .account(account, isStable: true)
    case .originalTransaction(let id):
      guard let chain = try database.chain(id, scopeID: scopeID) else { return .notFound }
      return try found(chain)
    case .transaction(let id):
      guard let chain = try chain(of: id, scopeID: scopeID) else { return .notFound }
      return try found(chain)
    case .appTransaction(let id):
      return try find(id, scopeID: scopeID)
    case .appAccountToken(let token):
      // The token that stands for none finds nobody (R43).
      return try token.ofCustomer.map { try find($0, scopeID: scopeID) } ?? .notFound
    }
  }

  /// The chain of a known transaction (R7), else the chain that has this id: its first transaction
  /// may never have been heard.
  private func chain(of id: TransactionID, scopeID: Int64) throws -> StoredChain? {
    let key = FactKey(kind: .transaction, identifier: id.rawValue)
    if let fact = try database.row(.chainOfFact, key.arguments(scopeID: scopeID)),
      let chainRowID: Int64 = fact[0]
    {
      return try database.chain(rowID: chainRowID)
    }
    return try database.chain(OriginalTransactionID(id.rawValue), scopeID: scopeID)
  }

  private func found(_ chain: StoredChain) throws -> SQLiteFoundCustomer {
    guard let account = chain.account else { return .chain(chain) }
    return .account(try database.linkedAccount(account), isStable: true)
  }

  /// An app transaction id is usually linked to the account of its chains, so one lookup is enough.
  /// If an operator detached the id, a chain with this id determines the account.
  private func find(_ id: AppTransactionID, scopeID: Int64) throws -> SQLiteFoundCustomer {
    let link = try database.row(.accountOfAppTransaction, [scopeID, id.packed])
    let isAmbiguous: Bool = link?[1] ?? false
    if !isAmbiguous {
      if let account: Int64 = link?[0] {
        return .account(try database.linkedAccount(account), isStable: true)
      }
      let byChain = try database.row(
        .accountOfChainByAppTransaction, [scopeID, id.packed, id.packed])
      if let account: Int64 = byChain?[1] {
        return .account(try database.linkedAccount(account), isStable: false)
      }
    }
    return .chains(
      try chains(
        database.rows(.unlinkedChainsByAppTransaction, [scopeID, id.packed, id.packed]), scopeID),
      id)
  }

  /// A token is linked to the account that was submitted with it. Without such an account, a chain
  /// with this token determines the account: a customer with purchases is not new (R27). The token
  /// may later be linked to another account without a change of this one. An ambiguous token finds
  /// no account (R71).
  private func find(_ token: AppAccountToken, scopeID: Int64) throws -> SQLiteFoundCustomer {
    let known = try database.row(.findToken, [scopeID, token.packed])
    let isAmbiguous: Bool = known?[1] ?? false
    if !isAmbiguous {
      if let account: Int64 = known?[0] {
        return .account(try database.linkedAccount(account), isStable: true)
      }
      let byChain = try database.row(.accountOfChainByToken, [scopeID, token.packed, token.packed])
      if let account: Int64 = byChain?[1] {
        return .account(try database.linkedAccount(account), isStable: false)
      }
    }
    return .chains(
      try chains(
        database.rows(.unlinkedChainsByToken, [scopeID, token.packed, token.packed]), scopeID), nil)
  }

  private func chains(_ rows: [Row], _ scopeID: Int64) throws -> [StoredChain] {
    try rows.compactMap { try database.chain($0.packedIdentifier(0), scopeID: scopeID) }
  }

  // MARK: Reading

  private func customer(_ account: StoredAccount, isStable: Bool) throws -> SQLiteCustomerRows {
    var found = SQLiteCustomerRows(
      customer: StoredCustomer(
        record: CustomerRecord(
          scope: scope, accountID: account.accountID, revision: account.revision,
          changedAt: account.changedAt,
          grants: try database.grants(ofAccount: account.id, in: scope)),
        subject: isStable ? .account(scope, account.accountID) : nil))
    found.facts = try rows(.factsOfAccountChains, [account.id])
    found.facts += try rows(.factsOfAccountAppTransactions, [account.id])
    if includesVersions {
      let chains = try database.rows(.chainRowsOfAccount, [account.id])
      try readVersions(inChains: chains.map { $0[0] }, to: &found)
    }
    return found
  }

  private func customer(_ chain: StoredChain) throws -> SQLiteCustomerRows {
    var found = SQLiteCustomerRows(
      customer: StoredCustomer(
        record: CustomerRecord(
          scope: scope, revision: chain.revision, changedAt: chain.changedAt),
        subject: .unlinkedChain(scope, chain.originalTransactionID)))
    found.facts = try rows(.factsOfChain, [chain.id])
    if includesVersions { try readVersions(inChains: [chain.id], to: &found) }
    return found
  }

  private func customer(_ chains: [StoredChain], _ appTransaction: AppTransactionID?) throws
    -> SQLiteCustomerRows
  {
    var found = SQLiteCustomerRows(
      customer: StoredCustomer(record: CustomerRecord(scope: scope), subject: nil))
    for chain in chains {
      found.customer.record.revision = max(found.customer.record.revision, chain.revision)
      found.facts += try rows(.factsOfChain, [chain.id])
    }
    if let appTransaction, let scopeID = try database.scopeID(scope) {
      let key = FactKey(kind: .appTransaction, identifier: appTransaction.rawValue)
      found.facts += try rows(.factByKey, key.arguments(scopeID: scopeID))
    }
    if includesVersions { try readVersions(inChains: chains.map(\.id), to: &found) }
    return found
  }

  /// - Parameter chains: the row ids of the facts' chains.
  private func readVersions(
    inChains chains: [Int64], to found: inout SQLiteCustomerRows
  ) throws {
    found.includesVersions = true
    for chain in chains {
      found.histories += try database.rows(.historiesOfChain, [chain])
      found.versions += try rows(.versionsOfChain, [chain])
    }
  }

  private func rows(
    _ statement: StoreStatement, _ arguments: StatementArguments
  ) throws -> [Row] {
    var rows: [Row] = []
    try database.forEachRow(statement, arguments) { row in
      try reads()
      rows.append(row.copy())
    }
    return rows
  }

  /// The answer for an unknown customer. For an account id it depends only on that account. For any
  /// other selector, a first fact of any customer may change it.
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
    [scopeID, kind.rawValue, try identifier.packed]
  }
}

/// The result of looking up a selector, before facts are read.
enum SQLiteFoundCustomer {
  /// - isStable: true if the selector finds this account until the account changes; false if a
  ///   change of another customer may make it find another account.
  case account(StoredAccount, isStable: Bool)
  /// A chain without an account.
  case chain(StoredChain)
  /// Chains without an account, and the app transaction of the selector. Any new fact may add a
  /// chain.
  case chains([StoredChain], AppTransactionID?)
  case notFound
}

/// The rows of a customer. They are decoded after the snapshot has ended: while one is read, SQLite
/// cannot begin its log from the start again, and commits to a growing log take much longer.
struct SQLiteCustomerRows {
  /// Without facts and versions.
  var customer: StoredCustomer
  var facts: [Row] = []
  var includesVersions = false
  var histories: [Row] = []
  var versions: [Row] = []

  /// - Parameters:
  ///   - vault: expands payloads.
  ///   - decodes: called before each fact and version is decoded. An error ends the decoding.
  func decoded(
    _ vault: PayloadVault, _ decodes: () throws -> Void = {}
  ) throws -> StoredCustomer {
    let scope = customer.record.scope
    var customer = customer
    var stored = StoredFactVersions()
    customer.record.facts = try facts.map { row in
      try decodes()
      let fact = try SQLiteStoredFact.decode(row, scope: scope, vault)
      guard let supplement = try SQLiteStoredFact.supplement(row, of: fact) else { return fact }
      stored.add(supplement, completing: fact)
      return supplement.completing(fact)
    }
    guard includesVersions else { return customer }
    for row in histories {
      let key = try row.factKey(kind: 0, identifier: 1)
      stored.add(try FactHistory(encoded: try row.bytes(2)), of: key)
    }
    for row in versions {
      try decodes()
      guard let statement = StatementDigest(try row.bytes(2)) else {
        throw StoreError(.corrupt, "the digest of a stored version has another length")
      }
      stored.add(
        try SQLiteStoredFact.version(row, statement: statement, scope: scope, vault),
        statement: statement)
    }
    customer.record.versions = try stored.versions(of: customer.record.facts)
    return customer
  }
}
