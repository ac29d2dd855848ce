import EntitlementDomain
import EntitlementStore
import TestSupport

extension EntitlementStore {
  @discardableResult
  func submit(
    _ facts: [SignedFact], by account: AccountID? = nil, anonymous: AccountID? = nil,
    notification: SignedNotification? = nil, at: Milliseconds = 5_000,
    under catalog: Catalog = Catalog()
  ) async throws -> CommitReceipt {
    try await commit(
      Submission(
        facts: facts, accountID: account, anonymousAccountID: anonymous,
        notification: notification, receivedAt: at, catalog: catalog))
  }

  @discardableResult
  func submit(
    _ sample: some FactSample, by account: AccountID? = nil, anonymous: AccountID? = nil,
    at: Milliseconds = 5_000, under catalog: Catalog = Catalog()
  ) async throws -> CommitReceipt {
    try await submit(
      [sample.signed()], by: account, anonymous: anonymous, at: at, under: catalog)
  }

  func customer(_ selector: CustomerSelector) async throws -> StoredCustomer {
    try await customer(selector, in: readerScope)
  }

  /// The account that a chain of the usual app is linked to.
  func account(of chain: OriginalTransactionID) async throws -> AccountID? {
    try await customer(.originalTransaction(chain)).record.accountID
  }

  /// The whole feed, read in small pages. Waits until the feed reaches its end, since transactions
  /// in other databases of the same server may delay it.
  func feed(after start: Int64 = 0) async throws -> [Change] {
    let end = try await changedCustomers(after: start).latest
    try await eventually("the feed does not reach \(end)") { try await feedEnd() >= end }
    var feed: [Change] = []
    while true {
      let page = try await changes(after: feed.last?.sequence ?? start, limit: 7)
      if page.isEmpty { break }
      feed += page
    }
    return feed
  }

  /// Requests a change of links as an operator does.
  func ask(
    _ change: LinkRequest.Change, in scope: AppScope = readerScope, at: Milliseconds = 8_000,
    under catalog: Catalog = Catalog()
  ) async throws -> LinkAnswer {
    try await perform(
      LinkRequest(
        scope: scope, change: change, onBehalfOf: "ada", reason: "a ticket", at: at,
        catalog: catalog, caller: sampleCaller("otto")))
  }

  /// Like ``ask(_:in:at:)``, for a request that must succeed.
  @discardableResult
  func done(
    _ change: LinkRequest.Change, in scope: AppScope = readerScope, at: Milliseconds = 8_000,
    under catalog: Catalog = Catalog(), file: StaticString = #fileID, line: UInt = #line
  ) async throws -> LinkReceipt {
    switch try await ask(change, in: scope, at: at, under: catalog) {
    case .done(let receipt): return receipt
    case .refused(let refusal):
      throw ConformanceFailure("\(change) was refused: \(refusal)", file: file, line: line)
    }
  }

  func history(of target: LinkTarget) async throws -> [LinkEvent] {
    try await linkHistory(of: target, in: readerScope)
  }

  /// The tokens of an account, or the ambiguous ones, of the usual app.
  func tokens(of account: AccountID?) async throws -> [KnownToken] {
    try await tokens(of: account, in: readerScope, after: nil, limit: 1_000)
  }

  /// The events of the feed that say what became ambiguous.
  func ambiguities() async throws -> [FeedEvent] {
    try await feed().flatMap(\.events)
      .filter { $0.kind == .tokenAmbiguous || $0.kind == .appTransactionAmbiguous }
  }

  func links(of account: AccountID) async throws -> [LinkTarget] {
    try await links(of: account, in: readerScope).map(\.target)
  }

  /// The listed accounts of the usual app.
  func accountIDs() async throws -> [AccountID] {
    try await accounts(in: readerScope, after: nil, limit: 1_000).map(\.accountID)
  }

  func revision(of selector: CustomerSelector) async throws -> Int64 {
    try await customer(selector).record.revision
  }
}

extension StoredCustomer {
  /// Sorted transaction ids and other keys: the stored facts, whatever their order.
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
