package import EntitlementDomain
package import EntitlementStore
import GRDB

// Jobs of the App Store Server API (R79–R81).
extension SQLiteStore {
  package func job(_ reference: AppStoreJobReference) async throws(StoreError) -> AppStoreJob? {
    try await read { try $0.job(reference) }
  }

  package func jobs(_ query: AppStoreJobQuery) async throws(StoreError) -> AppStoreJobPage {
    try await read { try $0.jobs(query) }
  }

  package func change(_ request: AppStoreJobRequest) async throws(StoreError) -> AppStoreJobAnswer {
    let answer = try await decide { ledger in
      let answer = try ledger.change(request)
      return { _ in answer }
    }
    return try await identified(answer)
  }

  package func leaseJobs(_ request: AppStoreJobLease) async throws(StoreError) -> [AppStoreJob] {
    // Without due jobs nothing is written.
    guard try await read({ try !$0.dueJobs(request, limit: 1).isEmpty }) else { return [] }
    return try await write { database in
      let lease = try request.lease.stored
      return try database.dueJobs(request, limit: request.limit).compactMap { id in
        try database.run(.leaseJob, [lease, request.until.rawValue, id])
        return try database.job(.id(id))
      }
    }
  }

  package func jobCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> AppStoreJobCounts {
    try await read { database in
      func count(_ state: AppStoreJob.State) throws -> Int {
        let state = state.rawValue
        return try database.row(.jobCount, [state, state, AppStoreJobCounts.limit - 1])?[0] ?? 0
      }
      let due = try scopes.compactMap { scope -> Int64? in
        guard let scopeID = try database.scopeID(scope) else { return nil }
        return try database.row(.earliestDueJob, [scopeID])?[0]
      }
      return AppStoreJobCounts(
        open: try count(.open), givenUp: try count(.givenUp),
        earliestDue: due.min().map { Milliseconds($0) })
    }
  }
}

extension Database {
  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob? {
    switch reference {
    case .key(let key):
      guard let scopeID = try scopeID(key.scope) else { return nil }
      return try row(.jobByKey, [scopeID, key.kind.rawValue, key.storedSubject.stored])?.job()
    case .id(let id):
      return try row(.jobByID, [id])?.job()
    }
  }

  fileprivate func jobs(_ query: AppStoreJobQuery) throws -> AppStoreJobPage {
    var page = AppStoreJobPage(jobs: [], next: nil)
    let scanLimit = max(0, query.scanLimit)
    if query.limit < 1 || scanLimit == 0 { return page }
    if let chain = query.chain { return try jobs(query, of: chain) }
    var scanned = 0
    var arguments: StatementArguments = [query.after, scanLimit]
    if let state = query.state { arguments = [state.rawValue] + arguments }
    let rows = try Row.fetchCursor(
      cachedStatement(
        sql: (query.state == nil ? StoreStatement.jobPage : .jobPageByState).rawValue),
      arguments: arguments)
    while let row = try rows.next() {
      scanned += 1
      let job = try row.job()
      if query.selects(job) { page.jobs.append(job) }
      if page.jobs.count == query.limit || scanned == scanLimit {
        page.next = job.id
        break
      }
    }
    return page
  }

  /// A chain has at most one job in each app and environment.
  private func jobs(
    _ query: AppStoreJobQuery, of chain: OriginalTransactionID
  ) throws -> AppStoreJobPage {
    var found: [AppStoreJob] = []
    for environment in StoreEnvironment.allCases {
      for row in try rows(.jobsOfChain, [chain.stored, environment.rawValue]) {
        found.append(try row.job())
      }
    }
    return query.page(of: found)
  }

  /// The ids of due jobs, at most `limit`. Scopes take turns, one job each, in a random order, so that none
  /// waits for the others however low the limit is. Consumption goes first in each, as it has a deadline.
  fileprivate func dueJobs(_ request: AppStoreJobLease, limit: Int) throws -> [Int64] {
    let limit = max(0, limit)
    var turns: [[Int64]] = []
    for scope in Set(request.scopes) {
      guard let scopeID = try scopeID(scope) else { continue }
      let arguments: StatementArguments = [scopeID, request.now.rawValue, limit]
      let urgent: [Int64] = try rows(.dueConsumptionJobs, arguments).map { $0[0] }
      let others: [Int64] = try rows(.dueJobs, arguments).map { $0[0] }
        .filter { !urgent.contains($0) }
      for (turn, id) in (urgent + others).prefix(limit).enumerated() {
        if turn == turns.count { turns.append([]) }
        turns[turn].append(id)
      }
    }
    return Array(turns.flatMap { $0.shuffled() }.prefix(limit))
  }

  /// Inserts a job that has no id, and replaces another one.
  func write(_ job: AppStoreJob, scopeID: Int64) throws {
    let values: StatementArguments = [
      job.state.rawValue, job.opening, job.storedReasons, job.openedAt.rawValue,
      job.changedAt.rawValue, job.dueAt.rawValue, try job.lease?.stored, job.failures,
      job.unexplained, try job.lastFailure.stored, job.since?.rawValue,
      job.completeUntil?.rawValue, try job.cursor.stored, job.progress.calls,
      job.progress.payloads, job.progress.added, job.progress.refused,
    ]
    if let id = job.id {
      try run(.setJob, values + [id])
    } else {
      try run(
        .insertJob, [scopeID, job.key.kind.rawValue, try job.key.storedSubject.stored] + values)
    }
  }
}

extension Row {
  /// A row of ``StoreStatement/jobByID``.
  ///
  /// - Throws: ``StoreError/Code/corrupt``.
  fileprivate func job() throws -> AppStoreJob {
    let stored = try StoredJob(kind: self[3], chain: self[4], state: self[5], reasons: self[7])
    return AppStoreJob(
      key: AppStoreJobKey(try scope(bundleID: 1, environment: 2), stored.subject), id: self[0],
      state: stored.state, opening: self[6], reasons: stored.reasons,
      openedAt: Milliseconds(self[8]), changedAt: Milliseconds(self[9]),
      dueAt: Milliseconds(self[10]), lease: self[11], failures: self[12], unexplained: self[13],
      lastFailure: self[14], since: (self[15] as Int64?).map { Milliseconds($0) },
      completeUntil: (self[16] as Int64?).map { Milliseconds($0) }, cursor: self[17],
      progress: AppStoreJobProgress(
        calls: self[18], payloads: self[19], added: self[20], refused: self[21]))
  }
}
