import EntitlementDomain
import EntitlementStore

extension EntitlementStore {
  @discardableResult
  func submit(
    _ facts: [SignedFact], by account: AccountID? = nil,
    notification: SignedNotification? = nil, at: Milliseconds = 5_000,
    under catalog: Catalog = Catalog()
  ) async throws -> CommitReceipt {
    try await commit(
      Submission(
        facts: facts, accountID: account, notification: notification, receivedAt: at,
        catalog: catalog))
  }

  @discardableResult
  func submit(
    _ sample: some FactSample, by account: AccountID? = nil, at: Milliseconds = 5_000,
    under catalog: Catalog = Catalog()
  ) async throws -> CommitReceipt {
    try await submit([sample.signed()], by: account, at: at, under: catalog)
  }

  func customer(_ selector: CustomerSelector) async throws -> StoredCustomer {
    try await customer(selector, in: readerScope)
  }

  /// The account that a chain of the usual app is linked to.
  func account(of chain: OriginalTransactionID) async throws -> AccountID? {
    try await customer(.originalTransaction(chain)).record.accountID
  }

  /// The whole feed, read in small pages.
  func feed() async throws -> [Change] {
    var feed: [Change] = []
    while true {
      let page = try await changes(after: feed.last?.sequence ?? 0, limit: 7)
      if page.isEmpty { return feed }
      feed += page
    }
  }
}

extension StoredCustomer {
  /// Transaction ids and the like, sorted: which facts are there, whatever their order.
  var factKeys: [String] {
    record.facts.map { "\($0.kind)/\($0.key.identifier)" }.sorted()
  }
}

func account(_ id: AccountID, in scope: AppScope = readerScope) -> CustomerSubject {
  .account(scope, id)
}

func unlinked(_ chain: OriginalTransactionID, in scope: AppScope = readerScope) -> CustomerSubject {
  .unlinkedChain(scope, chain)
}
