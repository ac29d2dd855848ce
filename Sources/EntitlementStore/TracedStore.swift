package import EntitlementDomain
import Traces
import Tracing

/// A store that records a span for each operation of a traced call. Others, and what the server does for
/// itself, pass.
///
/// A commit may be shared with other submissions; each has a span of its own, which includes the wait for
/// the transaction.
package struct TracedStore: EntitlementStore {
  private let base: any EntitlementStore
  /// OpenTelemetry's name of the database.
  private let system: String

  package init(_ base: any EntitlementStore, system: String) {
    self.base = base
    self.system = system
  }

  private func attributes(_ operation: String, batch: Int = 1) -> SpanAttributes {
    var attributes: SpanAttributes = [
      "db.system.name": .string(system), "db.operation.name": .string(operation),
    ]
    if batch > 1 { attributes["db.operation.batch.size"] = batch }
    return attributes
  }

  private func traced<Value>(
    _ operation: String, _ body: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    guard CallTracer.isCurrent else { return try await body() }
    let span = CallTracer.startChild("store.\(operation)", .client, attributes(operation))
    do {
      let value = try await body()
      span?.end()
      return value
    } catch {
      span?.fail("\(error.code)")
      throw error
    }
  }

  /// The calls that share a batch have a span each, which fails if one of the call's own lookups does.
  package func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>]
  {
    var seen: Set<ObjectIdentifier> = []
    let calls = lookups.flatMap(\.spans).filter { seen.insert(ObjectIdentifier($0)).inserted }
    guard !calls.isEmpty || CallTracer.isCurrent else { return await base.customers(lookups) }
    let attributes = attributes("customers", batch: lookups.count)
    let spans = calls.map { $0.startChild("store.customers", .client, attributes) }
    // Without a batch of others, all lookups are those of the current call.
    let own = calls.isEmpty ? CallTracer.startChild("store.customers", .client, attributes) : nil
    let results = await base.customers(lookups)
    var failures: [ObjectIdentifier: String] = [:]
    var failure: String?
    for case (let lookup, .failure(let error)) in zip(lookups, results) {
      failure = "\(error.code)"
      for call in lookup.spans { failures[ObjectIdentifier(call)] = failure }
    }
    for (call, span) in zip(calls, spans) { end(span, failures[ObjectIdentifier(call)]) }
    end(own, failure)
    return results
  }

  private func end(_ span: CallSpan?, _ failure: String?) {
    if let failure { span?.fail(failure) } else { span?.end() }
  }

  // MARK: Operations of calls

  package func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt {
    try await traced("commit") { () throws(StoreError) in try await base.commit(submission) }
  }

  package func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer
  {
    try await traced("resolve") { () throws(StoreError) in
      try await base.resolve(selector, in: scope)
    }
  }

  package func bundleIDs(ofChain chain: OriginalTransactionID, environment: StoreEnvironment)
    async throws(StoreError) -> [BundleID]
  {
    try await traced("bundleIDs") { () throws(StoreError) in
      try await base.bundleIDs(ofChain: chain, environment: environment)
    }
  }

  package func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
    -> [AccountSummary]
  {
    try await traced("accounts") { () throws(StoreError) in
      try await base.accounts(in: scope, after: after, limit: limit)
    }
  }

  package func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    try await traced("changes") { () throws(StoreError) in
      try await base.changes(after: sequence, limit: limit)
    }
  }

  package func addGrant(_ grant: Grant, by caller: AuditCaller) async throws(StoreError)
    -> GrantReceipt
  {
    try await traced("addGrant") { () throws(StoreError) in
      try await base.addGrant(grant, by: caller)
    }
  }

  package func withdrawGrant(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal, by caller: AuditCaller
  ) async throws(StoreError) -> GrantReceipt? {
    try await traced("withdrawGrant") { () throws(StoreError) in
      try await base.withdrawGrant(id, in: scope, withdrawal, by: caller)
    }
  }

  package func grants(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [Grant]
  {
    try await traced("grants") { () throws(StoreError) in
      try await base.grants(of: account, in: scope)
    }
  }

  package func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer {
    try await traced("perform") { () throws(StoreError) in try await base.perform(request) }
  }

  package func notifications(_ query: NotificationQuery) async throws(StoreError)
    -> NotificationPage
  {
    try await traced("notifications") { () throws(StoreError) in
      try await base.notifications(query)
    }
  }

  package func links(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [LinkedTarget]
  {
    try await traced("links") { () throws(StoreError) in
      try await base.links(of: account, in: scope)
    }
  }

  package func tokens(
    of account: AccountID?, in scope: AppScope, after: AppAccountToken?, limit: Int
  ) async throws(StoreError) -> [KnownToken] {
    try await traced("tokens") { () throws(StoreError) in
      try await base.tokens(of: account, in: scope, after: after, limit: limit)
    }
  }

  package func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]
  {
    try await traced("linkHistory") { () throws(StoreError) in
      try await base.linkHistory(of: target, in: scope)
    }
  }

  package func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]
  {
    try await traced("linkHistory") { () throws(StoreError) in
      try await base.linkHistory(of: account, in: scope)
    }
  }

  package func refusedClaims(
    of targets: [LinkTarget], by account: AccountID?, in scope: AppScope
  ) async throws(StoreError) -> [RefusedClaim] {
    try await traced("refusedClaims") { () throws(StoreError) in
      try await base.refusedClaims(of: targets, by: account, in: scope)
    }
  }

  package func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]
  {
    try await traced("unlinkedChains") { () throws(StoreError) in
      try await base.unlinkedChains(in: scope, after: after, limit: limit)
    }
  }

  package func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?
  {
    try await traced("history") { () throws(StoreError) in
      try await base.history(of: account, in: scope)
    }
  }

  package func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  {
    try await traced("export") { () throws(StoreError) in try await base.export(account, in: scope)
    }
  }

  package func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError)
    -> SignedFact?
  {
    try await traced("signedFact") { () throws(StoreError) in
      try await base.signedFact(key, in: scope)
    }
  }

  package func notification(_ uuid: NotificationUUID) async throws(StoreError)
    -> SignedNotification?
  {
    try await traced("notification") { () throws(StoreError) in try await base.notification(uuid) }
  }

  package func record(_ call: AuditCall) async throws(StoreError) {
    try await traced("record") { () throws(StoreError) in try await base.record(call) }
  }

  package func auditEntries(_ query: AuditQuery) async throws(StoreError) -> [AuditEntry] {
    try await traced("auditEntries") { () throws(StoreError) in try await base.auditEntries(query) }
  }

  package func auditSeals(after number: Int64, limit: Int) async throws(StoreError) -> [AuditSeal] {
    try await traced("auditSeals") { () throws(StoreError) in
      try await base.auditSeals(after: number, limit: limit)
    }
  }

  package func job(_ reference: AppStoreJobReference) async throws(StoreError) -> AppStoreJob? {
    try await traced("job") { () throws(StoreError) in try await base.job(reference) }
  }

  package func jobs(_ query: AppStoreJobQuery) async throws(StoreError) -> AppStoreJobPage {
    try await traced("jobs") { () throws(StoreError) in try await base.jobs(query) }
  }

  package func change(_ request: AppStoreJobRequest) async throws(StoreError) -> AppStoreJobAnswer {
    try await traced("change") { () throws(StoreError) in try await base.change(request) }
  }

  package func consumption(
    _ key: ConsumptionKey
  ) async throws(StoreError) -> ConsumptionRecord? {
    try await traced("consumption") { () throws(StoreError) in try await base.consumption(key) }
  }

  package func consumptionRequests(
    _ query: ConsumptionQuery
  ) async throws(StoreError) -> ConsumptionPage {
    try await traced("consumption_requests") { () throws(StoreError) in
      try await base.consumptionRequests(query)
    }
  }

  package func consumptionConsent(
    of account: AccountID, in scope: AppScope
  ) async throws(StoreError) -> ConsumptionConsent? {
    try await traced("consumption_consent") { () throws(StoreError) in
      try await base.consumptionConsent(of: account, in: scope)
    }
  }

  package func change(_ change: ConsumptionChange) async throws(StoreError) -> ConsumptionAnswer {
    try await traced("change_consumption") { () throws(StoreError) in
      try await base.change(change)
    }
  }

  package func add(_ batch: AccountImportBatch) async throws(StoreError) -> AccountImportAnswer {
    try await traced("add") { () throws(StoreError) in try await base.add(batch) }
  }

  package func imports(_ query: AccountImportQuery) async throws(StoreError)
    -> [AccountImportSummary]
  {
    try await traced("imports") { () throws(StoreError) in try await base.imports(query) }
  }

  package func importRows(_ query: AccountImportRowQuery) async throws(StoreError)
    -> [AccountImportRow]
  {
    try await traced("importRows") { () throws(StoreError) in try await base.importRows(query) }
  }

  package func change(_ change: AccountImportChange) async throws(StoreError) -> Int? {
    try await traced("change") { () throws(StoreError) in try await base.change(change) }
  }

  // MARK: What the server does for itself

  package func consumptionCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> ConsumptionCounts {
    try await base.consumptionCounts(doing: scopes)
  }

  package func leaseImportRows(_ request: AccountImportLease) async throws(StoreError)
    -> [AccountImportRow]
  {
    try await base.leaseImportRows(request)
  }

  package func importRows(naming accounts: [AccountID], in scope: AppScope, limit: Int)
    async throws(StoreError) -> [AccountImportRow]
  {
    try await traced("importRows") { () throws(StoreError) in
      try await base.importRows(naming: accounts, in: scope, limit: limit)
    }
  }

  package func eraseImportRows(
    naming account: AccountID, in scope: AppScope
  ) async throws(StoreError) {
    try await traced("eraseImportRows") { () throws(StoreError) in
      try await base.eraseImportRows(naming: account, in: scope)
    }
  }

  package func renewImportLeases(
    _ held: [AccountImportRow.Place: String], until: Milliseconds
  ) async throws(StoreError) {
    try await base.renewImportLeases(held, until: until)
  }

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

  package func leaseJobs(_ request: AppStoreJobLease) async throws(StoreError) -> [AppStoreJob] {
    try await base.leaseJobs(request)
  }

  package func jobCounts(doing scopes: [AppScope]) async throws(StoreError) -> AppStoreJobCounts {
    try await base.jobCounts(doing: scopes)
  }

  package func feedEnd() async throws(StoreError) -> Int64 {
    try await base.feedEnd()
  }

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

  package func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    try await base.trimChanges(committedBefore: moment, now: now, limit: limit)
  }

  package func trimmingTime(clock: Milliseconds, elapsed: Duration, retention: Duration)
    async throws(StoreError) -> TrimmingTime
  {
    try await base.trimmingTime(clock: clock, elapsed: elapsed, retention: retention)
  }

  package func sealAudit(keepingDays days: Int?, now: Milliseconds) async throws(StoreError)
    -> AuditSeal?
  {
    try await base.sealAudit(keepingDays: days, now: now)
  }

  package func checkHealth() async throws(StoreError) {
    try await base.checkHealth()
  }

  package func announcements() -> AsyncStream<Void> { base.announcements() }

  package func close() async { await base.close() }
}
