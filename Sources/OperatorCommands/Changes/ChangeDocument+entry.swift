import EntitlementDomain
import JSONDocuments
import Wire

extension ChangeDocument {
  init(_ change: ChangeEntry) {
    var accountID: AccountID?
    var chain: OriginalTransactionID?
    switch change.subject {
    case .account(let id): accountID = id
    case .unlinkedChain(let id): chain = id
    case nil: break
    }
    self.init(
      sequence: change.sequence, scope: change.scope, accountID: accountID,
      originalTransactionID: chain, committedAt: change.committedAt, facts: change.hasFacts,
      linked: change.isLinked, unlinked: change.isUnlinked, grants: change.hasGrants,
      merged: change.isMerged, deleted: change.isDeleted, events: change.events)
  }
}
