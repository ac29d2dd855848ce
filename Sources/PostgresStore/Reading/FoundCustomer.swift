import EntitlementDomain
import EntitlementStore

/// What the rows of a ``CustomerStatement`` say.
struct FoundCustomer {
  private struct Account {
    let id: AccountID
    let revision: Int64
    let changedAt: Milliseconds?
    let isDeleted: Bool
    /// It is found until one of its own changes says otherwise; false where the selector may come to
    /// mean another account without one.
    let isCertain: Bool
  }

  private struct Chain {
    let id: OriginalTransactionID
    let revision: Int64
    let changedAt: Milliseconds?
  }

  private let scope: AppScope
  private var account: Account?
  /// The account that the one which was asked for was merged into: to ask for next.
  private(set) var mergedInto: AccountID?
  private var chain: Chain?
  private var looseChains: [Chain] = []
  private var facts: [Fact] = []
  private var grants: [Grant] = []
  /// How far the standby that answered has come.
  private(set) var horizon: Int64?

  /// - Parameter indexes: of the rows that belong to this customer.
  /// - Throws: ``StoreError/Code/corrupt``.
  init(
    _ rows: PostgresRows, _ indexes: some Collection<Int>, in scope: AppScope
  ) throws(StoreError) {
    self.scope = scope
    facts.reserveCapacity(indexes.count)
    for row in indexes { try take(rows, row) }
  }

  private mutating func take(_ rows: PostgresRows, _ row: Int) throws(StoreError) {
    guard let kind = CustomerRowKind(rawValue: try rows.number(row, 0)) else {
      throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
    }
    switch kind {
    case .account, .bearer:
      mergedInto = try rows.optionalIdentifier(row, 6)
      let revision = try rows.number(row, 1)
      account = Account(
        id: try rows.identifier(row, 5), revision: revision,
        changedAt: revision > 0 ? try rows.moment(row, 2) : nil,
        isDeleted: try rows.number(row, 3) != 0, isCertain: kind == .account)
    case .chain:
      chain = try chain(rows, row)
    case .looseChain:
      looseChains.append(try chain(rows, row))
    case .fact:
      facts.append(
        try StoredFact.decode(
          kind: try rows.factKind(row, 1), authority: try rows.authority(row, 2),
          digest: try rows.digest(row, 11), payload: try rows.data(row, 12), scope: scope))
    case .grant:
      guard let account else {
        throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
      }
      grants.append(try rows.grant(row, .ofCustomer, of: account.id, in: scope))
    case .horizon:
      horizon = try rows.number(row, 1)
    }
  }

  private func chain(_ rows: PostgresRows, _ row: Int) throws(StoreError) -> Chain {
    guard case .chain(let id) = try LinkTarget(stored: rows.string(row, 5)) else {
      throw StoreError(.corrupt, "a stored chain is of another kind")
    }
    let revision = try rows.number(row, 1)
    return Chain(
      id: id, revision: revision,
      changedAt: revision > 0 ? try rows.optionalMoment(row, 2) : nil)
  }

  // MARK: Answers

  func customer(_ selector: CustomerSelector) -> StoredCustomer {
    if let account {
      return StoredCustomer(
        record: CustomerRecord(
          scope: scope, accountID: account.id, revision: account.revision,
          changedAt: account.changedAt, facts: facts, grants: grants),
        subject: account.isCertain ? .account(scope, account.id) : nil)
    }
    if let chain {
      return StoredCustomer(
        record: CustomerRecord(
          scope: scope, revision: chain.revision, changedAt: chain.changedAt, facts: facts),
        subject: .unlinkedChain(scope, chain.id))
    }
    if case .account = selector { return Self.nobody(selector, in: scope) }
    // Another chain may join these with any fact, so that the answer has no one subject even when
    // there is one of them.
    return StoredCustomer(
      record: CustomerRecord(
        scope: scope, revision: looseChains.map(\.revision).max() ?? 0, facts: facts),
      subject: nil)
  }

  var resolved: ResolvedCustomer {
    if let account {
      // Of one that was deleted, only the revision is known.
      return ResolvedCustomer(
        subject: account.isDeleted ? nil : .account(scope, account.id),
        revision: account.revision)
    }
    if let chain {
      return ResolvedCustomer(subject: .unlinkedChain(scope, chain.id), revision: chain.revision)
    }
    return ResolvedCustomer(
      subject: looseChains.count == 1 ? .unlinkedChain(scope, looseChains[0].id) : nil,
      revision: looseChains.map(\.revision).max() ?? 0)
  }

  /// Nothing is known. The answer for an account depends on that account alone; that for anything
  /// else changes with a first fact, of which nobody knows yet whose it will be.
  static func nobody(_ selector: CustomerSelector, in scope: AppScope) -> StoredCustomer {
    guard case .account(let id) = selector else {
      return StoredCustomer(record: CustomerRecord(scope: scope), subject: nil)
    }
    return StoredCustomer(
      record: CustomerRecord(scope: scope, accountID: id), subject: .account(scope, id))
  }
}
