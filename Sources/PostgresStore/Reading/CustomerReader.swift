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
    var selector = selector
    var freshness = freshness
    // A merged account names another, which is never merged itself when it is read; only if that
    // is merged meanwhile there is another step.
    for _ in 0..<Self.maximumSteps {
      let found = try await read(selector, in: scope, extent, freshness)
      guard let other = found.mergedInto else { return found }
      selector = .account(other)
      // Another replica may not know of the merge yet.
      freshness = .primary
    }
    throw StoreError(.unavailable, "the account is being merged again and again")
  }

  private static let maximumSteps = 8

  private func read(
    _ selector: CustomerSelector, in scope: (AppScope, Int64), _ extent: CustomerStatement.Extent,
    _ freshness: StoreFreshness
  ) async throws(StoreError) -> FoundCustomer {
    let statement = CustomerStatement(selector)
    let values = selector.values(scope.1)
    if case .includes(let position) = freshness {
      let found = await replicas.answer(
        statement.statement(extent, onStandby: true), values, within: limit
      ) { rows throws(StoreError) -> FoundCustomer? in
        let found = try FoundCustomer(rows, 0..<rows.count, in: scope.0)
        // Below the horizon, nothing is missing.
        return found.horizon.map { $0 > position } == true ? found : nil
      }
      if let found { return found }
    }
    if case .account(let account) = selector, extent == .record {
      let found = try await accounts.read(account, in: scope.1)
      return try FoundCustomer(found.rows, found.indexes, in: scope.0)
    }
    let rows = try await primary.query(
      statement.statement(extent, onStandby: false), values, within: limit)
    return try FoundCustomer(rows, 0..<rows.count, in: scope.0)
  }
}

extension CustomerSelector {
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
