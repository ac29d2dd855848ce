package import EntitlementDomain
package import EntitlementStore

extension PostgresStore {
  package func customers(
    _ lookups: [CustomerLookup]
  ) async -> [Result<StoredCustomer, StoreError>] {
    var outcomes = [Result<StoredCustomer, StoreError>?](repeating: nil, count: lookups.count)
    var numbered: [LookupBatch.Lookup] = []
    var indexes: [Int] = []
    for (index, lookup) in lookups.enumerated() {
      do throws(StoreError) {
        guard let scopeID = try await scopes.id(of: lookup.scope) else {
          outcomes[index] = .success(
            PostgresFoundCustomer.unknown(lookup.selector, in: lookup.scope))
          continue
        }
        numbered.append(
          LookupBatch.Lookup(
            selector: lookup.selector, scope: lookup.scope, scopeID: scopeID,
            freshness: lookup.freshness,
            extent: lookup.includesVersions ? .history : .record))
        indexes.append(index)
      } catch {
        outcomes[index] = .failure(error)
      }
    }
    for (index, outcome) in zip(indexes, await batch.find(numbered)) {
      outcomes[index] = outcome.map { $0.customer(lookups[index].selector) }
    }
    return outcomes.compactMap(\.self)
  }

  package func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer
  {
    guard let scopeID = try await scopes.id(of: scope) else {
      return ResolvedCustomer(subject: nil, revision: 0)
    }
    let lookup = LookupBatch.Lookup(
      selector: selector, scope: scope, scopeID: scopeID, freshness: .primary,
      extent: .subject)
    return try await batch.find([lookup])[0].get().resolved
  }

  private var batch: LookupBatch {
    LookupBatch(
      primary: primary, replicas: replicas, limit: limits.readTimeLimit,
      vault: vault, evaluations: evaluations)
  }

  package func bundleIDs(
    ofChain chain: OriginalTransactionID, environment: StoreEnvironment
  ) async throws(StoreError) -> [BundleID] {
    let rows = try await query(
      ReadStatements.scopesOfChain, [.bytes(LinkTarget.chain(chain).stored)])
    var bundles: [BundleID] = []
    for row in 0..<rows.count {
      let scope = try await scopes.scope(try rows.number(row, 0))
      if scope.environment == environment { bundles.append(scope.bundleID) }
    }
    return bundles.sorted()
  }

  package func accounts(in scope: AppScope, after: AccountID?, limit: Int)
    async throws(StoreError) -> [AccountSummary]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    // The empty id sorts before every account.
    let rows = try await query(
      ReadStatements.accountPage,
      [.int64(scopeID), .text(after?.rawValue ?? ""), .int64(Int64(max(0, limit)))])
    return try rows.map { rows, row throws(StoreError) in
      AccountSummary(
        accountID: try rows.identifier(row, 0), revision: try rows.number(row, 1),
        chainCount: Int(try rows.number(row, 3)), updatedAt: try rows.moment(row, 2))
    }
  }

  package func grants(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [Grant]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    return try await query(
      ReadStatements.grantsOfAccount, [.int64(scopeID), .text(account.rawValue)]
    ).map { rows, row throws(StoreError) in try rows.grant(row, 0, scope: scope) }
  }

  package func links(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [LinkedTarget]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    return try await query(
      ReadStatements.linksOfAccount, [.int64(scopeID), .text(account.rawValue)]
    ).linkedTargets()
  }

  package func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    return try await query(
      ReadStatements.eventsOfTarget, [.int64(scopeID), .bytes(target.stored)]
    ).targetEvents().map(\.event)
  }

  package func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    return try await query(
      ReadStatements.eventsOfAccount, [.int64(scopeID), .text(account.rawValue)]
    ).targetEvents()
  }

  package func refusedClaims(
    of targets: [LinkTarget], by account: AccountID?, in scope: AppScope
  ) async throws(StoreError) -> [RefusedClaim] {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    let rows = try await query(
      ReadStatements.refusedClaims,
      [
        .int64(scopeID), .byteStrings(targets.map(\.stored)),
        account.map { .text($0.rawValue) } ?? .null,
      ])
    return try rows.map { rows, row throws(StoreError) in
      let target = ScopedTarget(scope, try rows.linkTarget(row, 0))
      return RefusedClaim(
        RefusedClaim.Key(target, by: try rows.identifier(row, 1)),
        author: try rows.linkAuthor(row, 3), traceID: try rows.optionalData(row, 4),
        at: try rows.moment(row, 2))
    }
  }

  package func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    // The letter alone sorts before every chain.
    let rows = try await query(
      ReadStatements.unlinkedChainPage,
      [
        .int64(scopeID), .bytes(after.map { LinkTarget.chain($0).stored } ?? [UInt8(ascii: "c")]),
        .int64(Int64(max(0, limit))),
      ])
    return try rows.map { rows, row throws(StoreError) in
      guard case .chain(let chain) = try rows.linkTarget(row, 0) else {
        throw StoreError(.corrupt, "a stored chain is of another kind")
      }
      return UnlinkedChain(
        chain: chain, revision: try rows.number(row, 1), changedAt: try rows.moment(row, 2))
    }
  }

  package func tokens(
    of account: AccountID?, in scope: AppScope, after: AppAccountToken?, limit: Int
  ) async throws(StoreError) -> [KnownToken] {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    // No bytes sort before every token.
    let page: [PostgresValue] = [
      .bytes(after.map(\.packedBytes) ?? []),
      .int64(Int64(max(0, limit))),
    ]
    guard let account else {
      return try await query(ReadStatements.ambiguousTokens, [.int64(scopeID)] + page)
        .knownTokens()
    }
    return try await query(
      ReadStatements.tokenPage, [.int64(scopeID), .text(account.rawValue)] + page
    ).knownTokens()
  }

  package func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError)
    -> SignedFact?
  {
    guard let scopeID = try await scopes.id(of: scope) else { return nil }
    let rows = try await query(
      ReadStatements.signedFact,
      [.int64(scopeID), .int64(Int64(key.kind.rawValue)), .bytes(key.packedIdentifier)])
    guard rows.count > 0 else { return nil }
    return try PostgresStoredFact.signed(rows, 0, scope: scope, vault: vault) {
      () throws(StoreError) in
      try rows.optionalData(0, 11)
    } document: { digest throws(StoreError) in
      guard let stored = try rows.optionalData(0, 12) else { return nil }
      return try vault.payload(of: stored, digest: digest)
    }
  }

  func query(
    _ statement: PostgresStatement, _ values: [PostgresValue]
  ) async throws(StoreError) -> PostgresRows {
    try await primary.query(statement, values, within: limits.readTimeLimit)
  }
}

extension PostgresRows {
  func map<Value>(
    _ transform: (PostgresRows, Int) throws(StoreError) -> Value
  ) throws(StoreError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for row in 0..<count { values.append(try transform(self, row)) }
    return values
  }

  /// Decodes rows of ``ReadStatements/linksOfAccount``.
  func linkedTargets() throws(StoreError) -> [LinkedTarget] {
    try map { rows, row throws(StoreError) in
      guard let since = try rows.optionalMoment(row, 2),
        let reason = try rows.optionalString(row, 3)
      else { throw StoreError(.corrupt, "a stored link has no event") }
      return LinkedTarget(
        target: try rows.linkTarget(row, 0), isUnsigned: try rows.flag(row, 1),
        isContested: try rows.linkStanding(row, 4).isContested, since: since,
        reason: try linkReason(reason))
    }
  }

  /// Decodes rows of ``ReadStatements/eventsOfAccount`` or ``ReadStatements/eventsOfTarget``.
  func targetEvents() throws(StoreError) -> [TargetLinkEvent] {
    try map { rows, row throws(StoreError) in
      TargetLinkEvent(
        target: try rows.linkTarget(row, 0), event: try rows.linkEvent(row, 1))
    }
  }
}
