package import EntitlementDomain
package import EntitlementStore
import GRDB
import Workers

extension SQLiteStore {
  /// There is one copy of the data, so every answer reflects the latest commit, whatever freshness
  /// is requested.
  package func customers(
    _ lookups: [CustomerLookup]
  ) async -> [Result<StoredCustomer, StoreError>] {
    let found: [Result<StoredCustomer?, StoreError>]
    do throws(StoreError) {
      found = try await read { database in
        lookups.map { lookup in
          Result { () throws(StoreError) in try self.smallCustomer(lookup, in: database) }
        }
      }
    } catch {
      return lookups.map { _ in .failure(error) }
    }
    var customers: [Result<StoredCustomer, StoreError>] = []
    for (lookup, found) in zip(lookups, found) {
      do throws(StoreError) {
        if let customer = try found.get() {
          customers.append(.success(customer))
        } else {
          customers.append(.success(try await largeCustomer(lookup)))
        }
      } catch {
        customers.append(.failure(error))
      }
    }
    return customers
  }

  /// - Returns: nil for a large customer, which is read on the ``EvaluationPool``. On the threads of
  ///   the read connections, a few such reads would take all processors and all connections.
  private func smallCustomer(
    _ lookup: CustomerLookup, in database: Database
  ) throws(StoreError) -> StoredCustomer? {
    var rows = 0
    do {
      let found = try SQLiteCustomerReader(
        database: database, scope: lookup.scope, includesVersions: lookup.includesVersions
      ) {
        rows += 1
        if rows > EvaluationPool.factsInPlace { throw IsLarge() }
      }.customer(lookup.selector)
      return try found.decoded(vault)
    } catch is IsLarge {
      return nil
    } catch {
      throw noting(StoreError(translating: error))
    }
  }

  /// Reads a customer again, on a thread of the pool, unless it may be left out.
  private func largeCustomer(_ lookup: CustomerLookup) async throws(StoreError) -> StoredCustomer {
    if lookup.mayLeaveOut {
      var customer = StoredCustomer(record: CustomerRecord(scope: lookup.scope), subject: nil)
      customer.isLeftOut = true
      return customer
    }
    try reads.enter()
    defer { reads.leave() }
    let outcome: Result<StoredCustomer, StoreError>
    do throws(PoolError) {
      // The size is not known yet. Only computations that run have facts in memory.
      outcome = try await evaluations.run(
        facts: EvaluationPool.factsInPlace + 1, weight: 0, of: lookup.source,
        isCancelled: lookup.isCancelled
      ) { isCancelled in self.largeCustomer(lookup, isCancelled) }
    } catch {
      switch error {
      case .cancelled: throw StoreError(.unavailable, "the caller cancelled the read")
      case .full, .deadlineExceeded, .shutdown:
        throw StoreError(.unavailable, "too many large customers are queued")
      }
    }
    return try outcome.get()
  }

  /// Runs on a thread of the pool, with a read connection of its own for that time.
  ///
  /// - Returns: nil if `isCancelled` has returned true.
  private func largeCustomer(
    _ lookup: CustomerLookup, _ isCancelled: @escaping () -> Bool
  ) -> Result<StoredCustomer, StoreError>? {
    var visited = 0
    let check = {
      visited += 1
      if visited % Self.factsBetweenChecks == 0, isCancelled() { throw CancellationError() }
    }
    do {
      let rows = try pool.read { database in
        try SQLiteCustomerReader(
          database: database, scope: lookup.scope, includesVersions: lookup.includesVersions,
          reads: check
        ).customer(lookup.selector)
      }
      return .success(try rows.decoded(vault, check))
    } catch is CancellationError {
      return nil
    } catch {
      return .failure(noting(StoreError(translating: error)))
    }
  }

  /// How often it is checked whether a caller still waits: about once a millisecond.
  private static let factsBetweenChecks = 64

  private struct IsLarge: Error {}

  package func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer
  {
    try await read { database in
      try SQLiteCustomerReader(database: database, scope: scope).resolve(selector)
    }
  }

  package func bundleIDs(
    ofChain chain: OriginalTransactionID, environment: StoreEnvironment
  ) async throws(StoreError) -> [BundleID] {
    try await read { database in
      try database.rows(.bundlesOfChain, [environment.rawValue, chain.packed])
        .map { $0.identifier(0) }
    }
  }

  package func accounts(in scope: AppScope, after: AccountID?, limit: Int)
    async throws(StoreError) -> [AccountSummary]
  {
    // SQLite treats a negative limit as no limit.
    let limit = max(0, limit)
    return try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      // No account has the empty id.
      let rows = try database.rows(
        .accountPage, [scopeID, (after ?? "").stored, limit])
      return rows.map { row in
        AccountSummary(
          accountID: row.identifier(0), revision: row[1], chainCount: row[3],
          updatedAt: Milliseconds(row[2]))
      }
    }
  }

  package func grants(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [Grant]
  {
    try await read { database in
      guard let account = try database.resolvedAccount(account, in: scope) else { return [] }
      return try database.grants(ofAccount: account.id, in: scope)
    }
  }

  package func links(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [LinkedTarget]
  {
    try await read { database in
      guard let account = try database.resolvedAccount(account, in: scope) else { return [] }
      return try database.links(ofAccount: account.id)
    }
  }

  package func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]
  {
    try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      return try database.linkHistory(of: target, scopeID: scopeID)
    }
  }

  package func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]
  {
    try await read { database in
      guard let account = try database.resolvedAccount(account, in: scope) else { return [] }
      return try database.linkHistory(of: account)
    }
  }

  package func refusedClaims(
    of targets: [LinkTarget], by account: AccountID?, in scope: AppScope
  ) async throws(StoreError) -> [RefusedClaim] {
    try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      return try database.refusedClaims(of: targets, by: account, in: scope, scopeID: scopeID)
    }
  }

  package func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]
  {
    let limit = max(0, limit)
    return try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      let rows = try database.rows(.unlinkedChainPage, [scopeID, after.packedStart(), limit])
      return try rows.map { row in
        UnlinkedChain(
          chain: try row.packedIdentifier(0), revision: row[1], changedAt: Milliseconds(row[2]))
      }
    }
  }

  package func tokens(
    of account: AccountID?, in scope: AppScope, after: AppAccountToken?, limit: Int
  ) async throws(StoreError) -> [KnownToken] {
    let limit = max(0, limit)
    return try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      let after = try after.packedStart()
      guard let account else {
        return try database.rows(.ambiguousTokens, [scopeID, after, limit])
          .map { try $0.knownToken() }
      }
      guard let stored = try database.resolvedAccount(account, in: scope) else { return [] }
      return try database.rows(.tokensOfAccount, [stored.id, after, limit])
        .map { try $0.knownToken() }
    }
  }

  package func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?
  {
    try await read { database in
      guard let account = try database.resolvedAccount(account, in: scope), !account.isDeleted
      else { return nil }
      return AccountHistory(
        accountID: account.accountID, linkEvents: try database.linkHistory(of: account),
        grants: try database.grants(ofAccount: account.id, in: scope),
        notifications: try database.notificationRecords(ofAccount: account.id))
    }
  }

  package func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  {
    try await read { [vault] database in
      guard let account = try database.resolvedAccount(account, in: scope), !account.isDeleted
      else { return nil }
      // Facts and notifications share headers.
      var proofs = ProofReader(database: database, vault: vault)
      return AccountExport(
        accountID: account.accountID, revision: account.revision, changedAt: account.changedAt,
        merged: try database.rows(.mergedAccounts, [account.id]).map { $0.identifier(1) },
        tokens: try database.rows(.tokensOfAccount, [account.id, [UInt8]().stored, -1])
          .map { try $0.knownToken() },
        links: try database.links(ofAccount: account.id),
        linkEvents: try database.linkHistory(of: account),
        facts: try database.signedFacts(ofAccount: account.id, in: scope, &proofs),
        versions: try database.versions(ofAccount: account.id, &proofs),
        grants: try database.grants(ofAccount: account.id, in: scope),
        notifications: try database.notifications(ofAccount: account.id, &proofs),
        consent: try database.consent(ofAccount: account.id))
    }
  }

  package func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError)
    -> SignedFact?
  {
    try await read { [vault] database in
      guard let scopeID = try database.scopeID(scope),
        let row = try database.row(.signedFact, key.arguments(scopeID: scopeID))
      else { return nil }
      var proofs = ProofReader(database: database, vault: vault)
      return try SQLiteStoredFact.signed(row, &proofs, scope: scope)
    }
  }

  package func notification(_ uuid: NotificationUUID) async throws(StoreError)
    -> SignedNotification?
  {
    try await read { [vault] in try $0.receivedNotification(uuid, vault)?.notification }
  }

  package func notifications(_ query: NotificationQuery) async throws(StoreError)
    -> NotificationPage
  {
    try await read { try $0.notifications(query) }
  }

  package func checkHealth() async throws(StoreError) {
    try checkFiles()
    try checkDamage()
    // Reads the file, so that this fails if only the connection works.
    try await read { database in
      _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema")
    }
  }

  /// The query plan of a statement, one line for each step. For the test that statements use
  /// indexes.
  package func plan(of statement: StoreStatement) async throws(StoreError) -> [String] {
    try await read { database in
      // The plan depends on the number of arguments, not on their values.
      let count = statement.rawValue.count { $0 == "?" }
      let arguments = StatementArguments([DatabaseValue](repeating: .null, count: count))
      let plan = "EXPLAIN QUERY PLAN \(statement.rawValue)"
      return try Row.fetchAll(database, sql: plan, arguments: arguments).map { $0["detail"] }
    }
  }
}

extension Optional {
  /// What a page begins after: the id itself, or what is before all ids.
  fileprivate func packedStart<Kind>() throws -> DatabaseValue
  where Wrapped == Identifier<Kind> {
    try self?.packed ?? [UInt8]().stored
  }
}
