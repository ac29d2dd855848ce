import EntitlementDomain
import JSONDocuments
import Wire

/// A line of a watch, in JSON: the fields of `entitle.v1.WatchCustomerStatesResponse`, by the same
/// names; what is absent is left out.
struct WatchedChangeDocument: Encodable {
  let cursor: String
  let change: Change

  struct Change: Encodable {
    let sequence: Int64
    let bundleId: String
    let environment: String
    var accountId: String?
    var originalTransactionId: String?
    let committedAtMs: Int64
    let kinds: [String]
    let events: [FeedEventDocument]
    let state: StateDocument?
  }

  init(cursor: String, change: CustomerChange) {
    self.cursor = cursor
    var accountID: String?
    var chain: String?
    switch change.subject {
    case .account(let id): accountID = id.rawValue
    case .unlinkedChain(let id): chain = id.rawValue
    case nil: break
    }
    self.change = Change(
      sequence: change.sequence, bundleId: change.scope.bundleID.rawValue,
      environment: change.scope.environment.rawValue, accountId: accountID,
      originalTransactionId: chain, committedAtMs: change.committedAt.rawValue,
      kinds: change.kinds.inOrder.map { wireName($0) },
      events: change.events.map { FeedEventDocument($0) },
      state: change.state.map { StateDocument($0) })
  }
}
