package import EntitlementDomain
package import EntitlementStore

/// A store that forwards to another one, except for the methods that a test overrides.
package protocol ForwardingStore: EntitlementStore {
  var base: any EntitlementStore { get }
}

extension ForwardingStore {
  package func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    try await base.commit(submission)
  }
  package func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>]
  {
    await base.customers(lookups)
  }
  package func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer
  { try await base.resolve(selector, in: scope) }
  package func bundleIDs(ofChain chain: OriginalTransactionID, environment: StoreEnvironment)
    async throws(StoreError) -> [BundleID]
  { try await base.bundleIDs(ofChain: chain, environment: environment) }
  package func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
    -> [AccountSummary]
  { try await base.accounts(in: scope, after: after, limit: limit) }
  package func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    try await base.changes(after: sequence, limit: limit)
  }
  package func feedEnd() async throws(StoreError) -> Int64 { try await base.feedEnd() }
  package func commitTimeOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds? {
    try await base.commitTimeOfChange(sequence)
  }
  package func followerCursor() async throws(StoreError) -> FollowerCursor {
    try await base.followerCursor()
  }
  package func changedCustomers(since cursor: FollowerCursor) async throws(StoreError)
    -> ChangedCustomers
  {
    try await base.changedCustomers(since: cursor)
  }
  package func announcements() -> AsyncStream<Void> { base.announcements() }
  package func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  { try await base.trimChanges(committedBefore: moment, now: now, limit: limit) }
  package func trimmingTime(clock: Milliseconds, elapsed: Duration, retention: Duration)
    async throws(StoreError) -> TrimmingTime
  { try await base.trimmingTime(clock: clock, elapsed: elapsed, retention: retention) }
  package func addGrant(_ grant: Grant, by caller: AuditCaller) async throws(StoreError)
    -> GrantReceipt
  { try await base.addGrant(grant, by: caller) }
  package func withdrawGrant(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal, by caller: AuditCaller
  ) async throws(StoreError) -> GrantReceipt? {
    try await base.withdrawGrant(id, in: scope, withdrawal, by: caller)
  }
  package func record(_ call: AuditCall) async throws(StoreError) { try await base.record(call) }
  package func auditEntries(_ query: AuditQuery) async throws(StoreError) -> [AuditEntry] {
    try await base.auditEntries(query)
  }
  package func auditSeals(after number: Int64, limit: Int) async throws(StoreError) -> [AuditSeal] {
    try await base.auditSeals(after: number, limit: limit)
  }
  package func sealAudit(keepingDays days: Int?, now: Milliseconds) async throws(StoreError)
    -> AuditSeal?
  { try await base.sealAudit(keepingDays: days, now: now) }
  package func grants(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [Grant]
  {
    try await base.grants(of: account, in: scope)
  }
  package func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await base.perform(request)
  }
  package func links(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [LinkedTarget]
  { try await base.links(of: account, in: scope) }
  package func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]
  { try await base.linkHistory(of: target, in: scope) }
  package func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]
  { try await base.linkHistory(of: account, in: scope) }
  package func refusedClaims(
    of targets: [LinkTarget], by account: AccountID?, in scope: AppScope
  ) async throws(StoreError) -> [RefusedClaim] {
    try await base.refusedClaims(of: targets, by: account, in: scope)
  }
  package func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]
  { try await base.unlinkedChains(in: scope, after: after, limit: limit) }
  package func tokens(
    of account: AccountID?, in scope: AppScope, after: AppAccountToken?, limit: Int
  ) async throws(StoreError) -> [KnownToken] {
    try await base.tokens(of: account, in: scope, after: after, limit: limit)
  }
  package func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?
  { try await base.history(of: account, in: scope) }
  package func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  { try await base.export(account, in: scope) }
  package func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError)
    -> SignedFact?
  {
    try await base.signedFact(key, in: scope)
  }
  package func notification(_ uuid: NotificationUUID) async throws(StoreError)
    -> SignedNotification?
  {
    try await base.notification(uuid)
  }
  package func notifications(_ query: NotificationQuery) async throws(StoreError)
    -> NotificationPage
  { try await base.notifications(query) }
  package func job(_ reference: AppStoreJobReference) async throws(StoreError) -> AppStoreJob? {
    try await base.job(reference)
  }
  package func jobs(_ query: AppStoreJobQuery) async throws(StoreError) -> AppStoreJobPage {
    try await base.jobs(query)
  }
  package func change(_ request: AppStoreJobRequest) async throws(StoreError) -> AppStoreJobAnswer {
    try await base.change(request)
  }
  package func leaseJobs(_ request: AppStoreJobLease) async throws(StoreError) -> [AppStoreJob] {
    try await base.leaseJobs(request)
  }
  package func jobCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> AppStoreJobCounts {
    try await base.jobCounts(doing: scopes)
  }
  package func consumption(
    _ key: ConsumptionKey
  ) async throws(StoreError) -> ConsumptionRecord? {
    try await base.consumption(key)
  }
  package func consumptionRequests(
    _ query: ConsumptionQuery
  ) async throws(StoreError) -> ConsumptionPage {
    try await base.consumptionRequests(query)
  }
  package func consumptionConsent(
    of account: AccountID, in scope: AppScope
  ) async throws(StoreError) -> ConsumptionConsent? {
    try await base.consumptionConsent(of: account, in: scope)
  }
  package func change(_ change: ConsumptionChange) async throws(StoreError) -> ConsumptionAnswer {
    try await base.change(change)
  }
  package func consumptionCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> ConsumptionCounts {
    try await base.consumptionCounts(doing: scopes)
  }

  package func add(_ batch: AccountImportBatch) async throws(StoreError) -> AccountImportAnswer {
    try await base.add(batch)
  }
  package func imports(_ query: AccountImportQuery) async throws(StoreError)
    -> [AccountImportSummary]
  { try await base.imports(query) }
  package func importRows(_ query: AccountImportRowQuery) async throws(StoreError)
    -> [AccountImportRow]
  { try await base.importRows(query) }
  package func change(_ change: AccountImportChange) async throws(StoreError) -> Int? {
    try await base.change(change)
  }
  package func leaseImportRows(_ request: AccountImportLease) async throws(StoreError)
    -> [AccountImportRow]
  { try await base.leaseImportRows(request) }
  package func importRows(naming accounts: [AccountID], in scope: AppScope, limit: Int)
    async throws(StoreError) -> [AccountImportRow]
  { try await base.importRows(naming: accounts, in: scope, limit: limit) }
  package func eraseImportRows(
    naming account: AccountID, in scope: AppScope
  ) async throws(StoreError) { try await base.eraseImportRows(naming: account, in: scope) }
  package func renewImportLeases(
    _ held: [AccountImportRow.Place: String], until: Milliseconds
  ) async throws(StoreError) { try await base.renewImportLeases(held, until: until) }
  package func endLeasesOfFormerProcesses(
    in scopes: [AppScope], at now: Milliseconds
  ) async throws(StoreError) {
    try await base.endLeasesOfFormerProcesses(in: scopes, at: now)
  }
  package func report(_ reports: [AccountImportReport]) async throws(StoreError) {
    try await base.report(reports)
  }
  package func waitingImportRows(limit: Int) async throws(StoreError) -> Int {
    try await base.waitingImportRows(limit: limit)
  }
  package func checkHealth() async throws(StoreError) { try await base.checkHealth() }
  package func close() async { await base.close() }
}
