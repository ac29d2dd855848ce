import EntitlementDomain
import EntitlementStore

/// A store that does what another one does, but for what a test overrides.
protocol ForwardingStore: EntitlementStore {
  var base: any EntitlementStore { get }
}

extension ForwardingStore {
  func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    try await base.commit(submission)
  }
  func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
    await base.customers(lookups)
  }
  func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer
  { try await base.resolve(selector, in: scope) }
  func bundleIDs(ofChain chain: OriginalTransactionID, environment: StoreEnvironment)
    async throws(StoreError) -> [BundleID]
  { try await base.bundleIDs(ofChain: chain, environment: environment) }
  func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
    -> [AccountSummary]
  { try await base.accounts(in: scope, after: after, limit: limit) }
  func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    try await base.changes(after: sequence, limit: limit)
  }
  func feedEnd() async throws(StoreError) -> Int64 { try await base.feedEnd() }
  func momentOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds? {
    try await base.momentOfChange(sequence)
  }
  func followerCursor() async throws(StoreError) -> FollowerCursor {
    try await base.followerCursor()
  }
  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers {
    try await base.changedCustomers(since: cursor)
  }
  func announcements() -> AsyncStream<Void> { base.announcements() }
  func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  { try await base.trimChanges(committedBefore: moment, now: now, limit: limit) }
  func addGrant(_ grant: Grant) async throws(StoreError) -> GrantReceipt {
    try await base.addGrant(grant)
  }
  func withdrawGrant(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal)
    async throws(StoreError) -> GrantReceipt?
  { try await base.withdrawGrant(id, in: scope, withdrawal) }
  func grants(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [Grant] {
    try await base.grants(of: account, in: scope)
  }
  func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await base.perform(request)
  }
  func links(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [LinkedTarget]
  { try await base.links(of: account, in: scope) }
  func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]
  { try await base.linkHistory(of: target, in: scope) }
  func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]
  { try await base.linkHistory(of: account, in: scope) }
  func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]
  { try await base.unlinkedChains(in: scope, after: after, limit: limit) }
  func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?
  { try await base.history(of: account, in: scope) }
  func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  { try await base.export(account, in: scope) }
  func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError) -> SignedFact? {
    try await base.signedFact(key, in: scope)
  }
  func notification(_ uuid: NotificationUUID) async throws(StoreError) -> SignedNotification? {
    try await base.notification(uuid)
  }
  func checkHealth() async throws(StoreError) { try await base.checkHealth() }
  func close() async { await base.close() }
}
