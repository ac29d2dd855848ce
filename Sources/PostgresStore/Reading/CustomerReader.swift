import EntitlementDomain
import EntitlementStore

/// Reads customers, from a replica where it is new enough, else from the primary.
struct CustomerReader: Sendable {
  let primary: PostgresPool
  let accounts: AccountReads
  let replicas: ReplicaSet
  let limit: Duration

  /// - Parameter scope: its number too.
  func find(
    _ selector: CustomerSelector, in scope: (AppScope, Int64), _ extent: CustomerStatement.Extent,
    _ freshness: StoreFreshness
  ) async throws(StoreError) -> FoundCustomer {
    let found = try await find([selector], in: scope, extent, freshness)
    return found[0]
  }

  /// Whom each of the selectors finds, in one round trip as a rule.
  func find(
    _ selectors: [CustomerSelector], in scope: (AppScope, Int64),
    _ extent: CustomerStatement.Extent, _ freshness: StoreFreshness
  ) async throws(StoreError) -> [FoundCustomer] {
    var found = try await read(selectors, in: scope, extent, freshness)
    // A merged account names another, which is never merged itself when it is read; only if that
    // is merged meanwhile there is another step.
    for _ in 1..<Self.maximumSteps {
      let merged = found.indices.filter { found[$0].mergedInto != nil }
      if merged.isEmpty { return found }
      let others = merged.compactMap { found[$0].mergedInto.map(CustomerSelector.account) }
      // Another replica may not know of the merge yet.
      let next = try await read(others, in: scope, extent, .primary)
      for (index, customer) in zip(merged, next) { found[index] = customer }
    }
    throw StoreError(.unavailable, "the account is being merged again and again")
  }

  private static let maximumSteps = 8

  private func read(
    _ selectors: [CustomerSelector], in scope: (AppScope, Int64),
    _ extent: CustomerStatement.Extent, _ freshness: StoreFreshness
  ) async throws(StoreError) -> [FoundCustomer] {
    func commands(onStandby: Bool) -> [PostgresCommand] {
      selectors.map { selector in
        PostgresCommand(
          CustomerStatement(selector).statement(extent, onStandby: onStandby),
          selector.values(scope.1))
      }
    }
    func customers(_ results: [PostgresRows]) throws(StoreError) -> [FoundCustomer] {
      guard results.count == selectors.count else {
        throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
      }
      var found: [FoundCustomer] = []
      found.reserveCapacity(results.count)
      for rows in results { found.append(try FoundCustomer(rows, 0..<rows.count, in: scope.0)) }
      return found
    }
    if case .includes(let position) = freshness {
      let found = await replicas.answer(commands(onStandby: true), within: limit) {
        results throws(StoreError) -> [FoundCustomer]? in
        let found = try customers(results)
        // Below the horizon, nothing is missing.
        let isNewEnough = found.allSatisfy { customer in
          customer.horizon.map { $0 > position } == true
        }
        return isNewEnough ? found : nil
      }
      if let found { return found }
    }
    if extent == .record {
      let ids = selectors.compactMap(\.accountID)
      if ids.count == selectors.count {
        return try await accounts.read(ids, in: scope.1).map { found throws(StoreError) in
          try FoundCustomer(found.rows, found.indexes, in: scope.0)
        }
      }
    }
    return try customers(try await primary.query(commands(onStandby: false), within: limit))
  }
}

extension CustomerSelector {
  fileprivate var accountID: AccountID? {
    guard case .account(let id) = self else { return nil }
    return id
  }

  /// The parameters of its ``CustomerStatement``.
  fileprivate func values(_ scope: Int64) -> [PostgresValue] {
    switch self {
    case .account(let id): [.int64(scope), .text(id.rawValue)]
    case .originalTransaction(let id):
      [.int64(scope), .text(LinkTarget.chain(id).stored)]
    case .transaction(let id): [.int64(scope), .text(id.rawValue)]
    case .appTransaction(let id):
      [
        .int64(scope), .text(LinkTarget.appTransaction(id).stored),
        .text(LinkHint.appTransaction(id).stored(isSigned: true)),
        .text(LinkHint.appTransaction(id).stored(isSigned: false)),
      ]
    case .appAccountToken(let token):
      [
        .int64(scope), .text(token.rawValue),
        .text(LinkHint.token(token).stored(isSigned: true)),
      ]
    }
  }
}
