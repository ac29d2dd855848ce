package import EntitlementDomain
package import EntitlementStore

// Jobs of the App Store Server API (R79–R81). All reads are of the primary.
extension PostgresStore {
  package func job(_ reference: AppStoreJobReference) async throws(StoreError) -> AppStoreJob? {
    switch reference {
    case .id(let id):
      return try await jobs(query(JobStatements.byID, [.int64(id)])).first
    case .key(let key):
      return try await jobs([key]).first
    }
  }

  package func jobs(_ query: AppStoreJobQuery) async throws(StoreError) -> AppStoreJobPage {
    let limit = Int64(max(0, query.limit))
    var scanLimit = Int64(max(0, query.scanLimit))
    var page = AppStoreJobPage(jobs: [], next: nil)
    let selected = try await selectedScopes(
      bundleID: query.bundleID, environment: query.environment)
    if limit == 0 || scanLimit == 0 || selected?.isEmpty == true { return page }
    if let chain = query.chain {
      // A chain has at most one job in each app and environment.
      var all = selected ?? [:]
      if selected == nil { all = try await scopes.load().ids.ids }
      return query.page(of: try await jobs(all.keys.map { AppStoreJobKey($0, .refetch(chain)) }))
    }
    if selected == nil, query.kind == nil { scanLimit = min(scanLimit, limit) }
    var values: [PostgresValue] = [
      .int64(query.after), .int64(scanLimit), selected.map { .int64s(Array($0.values)) } ?? .null,
      query.kind.map { .int64(Int64($0.rawValue)) } ?? .null, .int64(limit),
    ]
    if let state = query.state { values.append(.int64(Int64(state.rawValue))) }
    let rows = try await self.query(
      query.state == nil ? JobStatements.page : JobStatements.pageByState, values)
    for (row, job) in try await jobs(rows).enumerated() {
      if try rows.flag(row, 22) { page.jobs.append(job) }
      if page.jobs.count == query.limit { page.next = job.id }
      if try rows.number(row, 21) == scanLimit { page.next = job.id }
    }
    return page
  }

  package func change(_ request: AppStoreJobRequest) async throws(StoreError) -> AppStoreJobAnswer {
    // The key of a job never changes. It names the locks and the writer of the request.
    var request = request
    let key: AppStoreJobKey
    var mayBeNew = false
    switch request.change {
    case .open(let opened, _), .schedule(let opened, _):
      key = opened
      mayBeNew = true
    case .report(let report): key = report.key
    case .retry(let reference):
      guard let found = try await self.key(of: reference) else { return .unknown }
      key = found
      request.change = .retry(.key(found))
    case .cancel(let reference):
      guard let found = try await self.key(of: reference) else { return .unknown }
      key = found
      request.change = .cancel(.key(found))
    }
    if !mayBeNew, try await scopes.id(of: key.scope) == nil {
      if case .report = request.change { return .leaseLost }
      return .unknown
    }
    let answer = try await write(LedgerKey.expected(by: request), in: [key.scope]) {
      [request] ledger in
      let answer = try ledger.change(request)
      return { _ in answer }
    }
    return try await identified(answer)
  }

  package func leaseJobs(_ request: AppStoreJobLease) async throws(StoreError) -> [AppStoreJob] {
    let scopeIDs = try await known(request.scopes)
    if scopeIDs.isEmpty || request.limit < 1 { return [] }
    let due: [PostgresValue] = [.int64s(scopeIDs), .int64(request.now.rawValue)]
    // Takes no connection of the writers while nothing is due.
    guard try await query(JobStatements.isDue, due).flag(0, 0) else { return [] }
    // After a lost connection the statement may lease other jobs. The former ones wait for the end of
    // their lease.
    let results = try await primary.write(
      [
        PostgresCommand(
          JobStatements.lease,
          due + [
            .text(request.lease), .int64(request.until.rawValue), .int64(Int64(request.limit)),
          ])
      ], within: limits.writeTimeLimit)
    guard let rows = results.first else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    return try await jobs(rows)
  }

  package func jobCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> AppStoreJobCounts {
    let rows = try await query(
      JobStatements.counts,
      [.int64(Int64(AppStoreJobCounts.limit)), .int64s(try await known(scopes))])
    return AppStoreJobCounts(
      open: Int(try rows.number(0, 0)), givenUp: Int(try rows.number(0, 1)),
      earliestDue: try rows.optionalMoment(0, 2))
  }

  // MARK: Steps

  /// The ids of those that are stored, each once.
  func known(_ named: [AppScope]) async throws(StoreError) -> [Int64] {
    var ids: Set<Int64> = []
    for scope in named {
      if let id = try await scopes.id(of: scope) { ids.insert(id) }
    }
    return Array(ids)
  }

  private func key(of reference: AppStoreJobReference) async throws(StoreError) -> AppStoreJobKey? {
    switch reference {
    case .key(let key): key
    case .id: try await job(reference)?.key
    }
  }

  private func jobs(_ keys: [AppStoreJobKey]) async throws(StoreError) -> [AppStoreJob] {
    var ids = PostgresScopeIDs()
    var known: [AppStoreJobKey] = []
    for key in keys {
      guard let id = try await scopes.id(of: key.scope) else { continue }
      ids.add(key.scope, id)
      known.append(key)
    }
    if known.isEmpty { return [] }
    let rows = try await query(JobStatements.load, PostgresValue.jobKeys(known, ids))
    return try rows.map { rows, row throws(StoreError) in
      let place = Int(try rows.number(row, 0)) - 1
      guard known.indices.contains(place) else {
        throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
      }
      return try rows.job(row, 1, scope: known[place].scope)
    }
  }

  /// - Parameter rows: begin with ``JobStatements/columns(_:)``.
  private func jobs(_ rows: PostgresRows) async throws(StoreError) -> [AppStoreJob] {
    var jobs: [AppStoreJob] = []
    for row in 0..<rows.count {
      let scope = try await scopes.scope(try rows.number(row, 1))
      jobs.append(try rows.job(row, 0, scope: scope))
    }
    return jobs
  }
}

extension PostgresValue {
  /// The parameters of ``JobStatements/load``.
  static func jobKeys(_ keys: [AppStoreJobKey], _ scopes: PostgresScopeIDs) -> [PostgresValue] {
    [
      .int64s(keys.map { scopes[$0.scope] }), .int64s(keys.map { Int64($0.kind.rawValue) }),
      .texts(keys.map(\.storedSubject)),
    ]
  }

  /// The columns of jobs after their keys.
  static func jobColumns(_ jobs: [AppStoreJob]) -> [PostgresValue] {
    [
      .int64s(jobs.map { Int64($0.state.rawValue) }), .int64s(jobs.map(\.opening)),
      .int64s(jobs.map(\.storedReasons)), .int64s(jobs.map(\.openedAt.rawValue)),
      .int64s(jobs.map(\.changedAt.rawValue)), .int64s(jobs.map(\.dueAt.rawValue)),
      .texts(jobs.map(\.lease)), .int64s(jobs.map { Int64($0.failures) }),
      .int64s(jobs.map { Int64($0.unexplained) }), .texts(jobs.map(\.lastFailure)),
      .int64s(jobs.map(\.since?.rawValue)), .int64s(jobs.map(\.completeUntil?.rawValue)),
      .texts(jobs.map(\.cursor)), .int64s(jobs.map(\.progress.calls)),
      .int64s(jobs.map(\.progress.payloads)), .int64s(jobs.map(\.progress.added)),
      .int64s(jobs.map(\.progress.refused)),
    ]
  }
}

extension PostgresRows {
  /// - Parameter column: the first of ``JobStatements/columns(_:)``.
  /// - Throws: ``StoreError/Code/corrupt``.
  func job(_ row: Int, _ column: Int, scope: AppScope) throws(StoreError) -> AppStoreJob {
    let stored = try StoredJob(
      kind: Int(try number(row, column + 2)), chain: try string(row, column + 3),
      state: Int(try number(row, column + 4)), reasons: try number(row, column + 6))
    return AppStoreJob(
      key: AppStoreJobKey(scope, stored.subject), id: try number(row, column),
      state: stored.state, opening: try number(row, column + 5), reasons: stored.reasons,
      openedAt: try moment(row, column + 7), changedAt: try moment(row, column + 8),
      dueAt: try moment(row, column + 9), lease: try optionalString(row, column + 10),
      failures: Int(try number(row, column + 11)), unexplained: Int(try number(row, column + 12)),
      lastFailure: try string(row, column + 13), since: try optionalMoment(row, column + 14),
      completeUntil: try optionalMoment(row, column + 15), cursor: try string(row, column + 16),
      progress: AppStoreJobProgress(
        calls: try number(row, column + 17), payloads: try number(row, column + 18),
        added: try number(row, column + 19), refused: try number(row, column + 20)))
  }
}
