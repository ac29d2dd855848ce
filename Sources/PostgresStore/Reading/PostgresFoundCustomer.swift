import EntitlementDomain
import EntitlementStore
import PayloadCompression

/// A customer decoded from the rows of a ``CustomerStatement``.
struct PostgresFoundCustomer {
  private struct Account {
    let id: AccountID
    let revision: Int64
    let changedAt: Milliseconds?
    let isDeleted: Bool
    /// True when the selector finds this account until the account itself changes. False when the
    /// selector may find another account without a change of this one.
    let isStable: Bool
  }

  private struct Chain {
    let id: OriginalTransactionID
    let revision: Int64
    let changedAt: Milliseconds?
  }

  private let scope: AppScope
  private let vault: PayloadVault
  private var account: Account?
  /// The account that the selected account was merged into, which has to be looked up next.
  private(set) var mergedInto: AccountID?
  private var chain: Chain?
  private var hintedChains: [Chain] = []
  private var facts: [Fact] = []
  private var stored = StoredFactVersions()
  private var versions: [FactVersion] = []
  private var grants: [Grant] = []
  /// The feed watermark of the standby that answered; nil from the primary.
  private(set) var watermark: Int64?

  /// - Parameter indexes: the rows of this customer.
  /// - Throws: ``StoreError/Code/corrupt``.
  init(
    _ rows: PostgresRows, _ indexes: some Collection<Int>, in scope: AppScope, vault: PayloadVault
  ) throws(StoreError) {
    self.scope = scope
    self.vault = vault
    facts.reserveCapacity(indexes.count)
    for row in indexes { try take(rows, row) }
    versions = try stored.versions(of: facts)
  }

  private mutating func take(_ rows: PostgresRows, _ row: Int) throws(StoreError) {
    guard let kind = CustomerRowKind(rawValue: try rows.number(row, 0)) else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    switch kind {
    case .account, .hintedAccount:
      mergedInto = try rows.optionalIdentifier(row, 6)
      let revision = try rows.number(row, 1)
      account = Account(
        id: try rows.identifier(row, 5), revision: revision,
        changedAt: revision > 0 ? try rows.moment(row, 2) : nil,
        isDeleted: try rows.number(row, 3) != 0, isStable: kind == .account)
    case .chain:
      chain = try chain(rows, row)
    case .hintedChain:
      hintedChains.append(try chain(rows, row))
    case .fact:
      let digest = try rows.digest(row, 5)
      let fact = try StoredFact.decode(
        kind: try rows.factKind(row, 1), authority: try rows.authority(row, 2), digest: digest,
        payload: try vault.payload(
          of: try rows.data(row, 6), digest: digest,
          texts: try rows.rowTexts(row, 7, signedDate: 3)),
        scope: scope, identifier: try rows.unpacked(row, 7))
      guard let supplement = try PostgresStoredFact.supplement(rows, row, 11, of: fact) else {
        facts.append(fact)
        break
      }
      stored.add(supplement, completing: fact)
      facts.append(supplement.completing(fact))
    case .factHistory:
      guard let history = try rows.optionalData(row, 5) else { break }
      let key = FactKey(kind: try rows.factKind(row, 1), identifier: try rows.unpacked(row, 6))
      stored.add(try FactHistory(encoded: history), of: key)
    case .version:
      guard let statement = StatementDigest(try rows.data(row, 5)) else {
        throw StoreError(.corrupt, "the digest of a stored version has another length")
      }
      let authority = try rows.authority(row, 2)
      stored.add(
        try StoredFact.decode(
          kind: try rows.factKind(row, 1), authority: authority, digest: statement.payloadDigest,
          payload: try vault.version(
            of: try rows.data(row, 6), statement: statement, authority: authority),
          scope: scope, identifier: try rows.unpacked(row, 7)),
        statement: statement)
    case .grant:
      guard let account else {
        throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
      }
      grants.append(try rows.grant(row, .ofCustomer, of: account.id, in: scope))
    case .watermark:
      watermark = try rows.number(row, 1)
    }
  }

  private func chain(_ rows: PostgresRows, _ row: Int) throws(StoreError) -> Chain {
    guard case .chain(let id) = try rows.linkTarget(row, 5) else {
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
          changedAt: account.changedAt, facts: facts, versions: versions, grants: grants),
        subject: account.isStable ? .account(scope, account.id) : nil)
    }
    if let chain {
      return StoredCustomer(
        record: CustomerRecord(
          scope: scope, revision: chain.revision, changedAt: chain.changedAt, facts: facts,
          versions: versions),
        subject: .unlinkedChain(scope, chain.id))
    }
    if case .account = selector { return Self.unknown(selector, in: scope) }
    // Any new fact may link a further chain, so the answer has no single subject even when there is
    // one chain.
    return StoredCustomer(
      record: CustomerRecord(
        scope: scope, revision: hintedChains.map(\.revision).max() ?? 0, facts: facts,
        versions: versions),
      subject: nil)
  }

  var resolved: ResolvedCustomer {
    if let account {
      // For a deleted account only the revision is known.
      return ResolvedCustomer(
        subject: account.isDeleted ? nil : .account(scope, account.id),
        revision: account.revision)
    }
    if let chain {
      return ResolvedCustomer(subject: .unlinkedChain(scope, chain.id), revision: chain.revision)
    }
    return ResolvedCustomer(
      subject: hintedChains.count == 1 ? .unlinkedChain(scope, hintedChains[0].id) : nil,
      revision: hintedChains.map(\.revision).max() ?? 0)
  }

  /// The answer for an unknown customer. The answer for an account depends only on that account.
  /// Any other answer changes with the first fact, whose account is not known yet.
  static func unknown(_ selector: CustomerSelector, in scope: AppScope) -> StoredCustomer {
    guard case .account(let id) = selector else {
      return StoredCustomer(record: CustomerRecord(scope: scope), subject: nil)
    }
    return StoredCustomer(
      record: CustomerRecord(scope: scope, accountID: id), subject: .account(scope, id))
  }
}
