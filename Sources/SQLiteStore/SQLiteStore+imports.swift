package import EntitlementDomain
package import EntitlementStore
import GRDB

// Imports of accounts (R89).
extension SQLiteStore {
  package func add(_ batch: AccountImportBatch) async throws(StoreError) -> AccountImportAnswer {
    if batch.isDryRun {
      return try await read { database in
        try database.importAnswer(to: batch, id: database.importID(batch.name))
      }
    }
    return try await write { database in try database.add(batch) }
  }

  package func imports(_ query: AccountImportQuery) async throws(StoreError)
    -> [AccountImportSummary]
  {
    try await read { database in
      switch query {
      case .named(let name):
        guard var summary = try database.row(.importByName, [name.rawValue.stored])?.summary()
        else { return [] }
        summary.lastRow = try database.row(.lastImportRow, [summary.id])?[0] ?? 0
        summary.counts = try database.rows(.importCounts, [summary.id]).map { row in
          let (state, reason) = try AccountImportRow.stored(state: row[0], reason: row[1])
          return AccountImportSummary.Count(state: state, reason: reason, count: row[2])
        }
        return [summary]
      case .header(let name):
        guard var summary = try database.row(.importByName, [name.rawValue.stored])?.summary()
        else { return [] }
        summary.lastRow = try database.row(.lastImportRow, [summary.id])?[0] ?? 0
        return [summary]
      case .after(let id, let limit):
        return try database.rows(.importPage, [id, max(0, limit)]).map { row in
          var summary = row.summary()
          summary.lastRow = try database.row(.lastImportRow, [summary.id])?[0] ?? 0
          return summary
        }
      }
    }
  }

  package func importRows(_ query: AccountImportRowQuery) async throws(StoreError)
    -> [AccountImportRow]
  {
    try await read { database in
      guard let id = try database.importID(query.name) else { return [] }
      let scopes = try database.scopeValues(query.scopes)
      return try database.rows(
        .importRowPage, [id, query.state.rawValue] + scopes + [query.after, max(0, query.limit)]
      ).map { try $0.importRow() }
    }
  }

  package func change(_ change: AccountImportChange) async throws(StoreError) -> Int? {
    try await write { database in
      guard let id = try database.importID(change.name) else { return nil }
      let limit = AccountImportLimits.changedRows
      let scopes = try database.scopeValues(change.scopes)
      switch change.kind {
      case .cancel:
        try database.run(.cancelImportRows, [change.at.rawValue, id, id] + scopes + [limit])
        return database.changesCount
      case .retry:
        let at = change.at.rawValue
        try database.run(.retryFailedImportRows, [at, at, id, id] + scopes + [limit])
        let failed = database.changesCount
        try database.run(.retryCancelledImportRows, [at, at, id, id] + scopes + [limit - failed])
        return failed + database.changesCount
      case .delete:
        try database.run(.deleteImportRows, [id, id, limit])
        let deleted = database.changesCount
        if deleted < limit { try database.run(.deleteImport, [id]) }
        return deleted
      }
    }
  }

  package func leaseImportRows(_ request: AccountImportLease) async throws(StoreError)
    -> [AccountImportRow]
  {
    // Without due rows nothing is written.
    guard try await read({ try !$0.dueImportRows(request, limit: 1).isEmpty }) else { return [] }
    return try await write { database in
      let lease = try request.lease.stored
      return try database.dueImportRows(request, limit: request.limit).map { row in
        guard let id = try database.importID(row.place.name) else {
          throw StoreError(.corrupt, "a row belongs to no import")
        }
        try database.run(
          .leaseImportRow, [lease, request.until.rawValue, id, row.place.number])
        return row.leased(by: request)
      }
    }
  }

  package func importRows(naming accounts: [AccountID], in scope: AppScope, limit: Int)
    async throws(StoreError) -> [AccountImportRow]
  {
    try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      return try accounts.flatMap { account in
        try database.rows(.importRowsOfAccount, [scopeID, account.stored, max(0, limit)])
          .map { try $0.importRow() }
      }
    }
  }

  package func eraseImportRows(
    naming account: AccountID, in scope: AppScope
  ) async throws(StoreError) {
    try await write { database in
      guard let scopeID = try database.scopeID(scope) else { return }
      try database.run(.eraseImportRows, [scopeID, account.stored])
      try database.run(.eraseRefusedClaims, [scopeID, account.stored])
    }
  }

  package func renewImportLeases(
    _ held: [AccountImportRow.Place: String], until: Milliseconds
  ) async throws(StoreError) {
    if held.isEmpty { return }
    try await write { database in
      for (place, lease) in held {
        guard let id = try database.importID(place.name) else { continue }
        try database.run(.renewImportRow, [until.rawValue, id, place.number, lease.stored])
      }
    }
  }

  package func endLeasesOfFormerProcesses(
    in scopes: [AppScope], at now: Milliseconds
  ) async throws(StoreError) {
    try await write { database in
      for scope in scopes {
        guard let scopeID = try database.scopeID(scope) else { continue }
        let values: StatementArguments = [now.rawValue, scopeID, now.rawValue]
        try database.run(.endJobLeases, values)
        try database.run(.endImportLeases, values)
      }
    }
  }

  package func report(_ reports: [AccountImportReport]) async throws(StoreError) {
    try await write { database in
      var ids: [AccountImportName: Int64] = [:]
      for report in reports {
        let name = report.place.name
        if ids[name] == nil { ids[name] = try database.importID(name) }
        guard let id = ids[name] else { continue }
        let wait = report.wait
        try database.run(
          .reportImportRow,
          [
            report.state.rawValue, report.reason?.rawValue ?? 0, report.detail?.stored,
            wait?.until.rawValue ?? 0, wait?.failures, wait?.refusals, report.cursor.stored,
            report.at.rawValue, id, report.place.number, report.lease.stored,
          ])
      }
    }
  }

  package func waitingImportRows(limit: Int) async throws(StoreError) -> Int {
    try await read { database in
      min(limit, try database.row(.waitingImportRows, [])?[0] ?? 0)
    }
  }
}

extension Database {
  fileprivate func importID(_ name: AccountImportName) throws -> Int64? {
    try row(.importByName, [name.rawValue.stored])?[0]
  }

  /// Ids of apps and environments as the four values that statements have for them. A missing one is NULL,
  /// which equals nothing.
  fileprivate func scopeValues(_ scopes: [AppScope]) throws -> StatementArguments {
    var ids: [(any DatabaseValueConvertible)?] = try scopes.prefix(4).map { try scopeID($0) }
    while ids.count < 4 { ids.append(nil) }
    return StatementArguments(ids)
  }

  /// What becomes of the rows of a batch.
  ///
  /// - Parameter id: of the import; nil for one that is not stored.
  fileprivate func importAnswer(
    to batch: AccountImportBatch, id: Int64?
  ) throws -> AccountImportAnswer {
    var known: [AccountImportRow] = []
    var twins: [AccountImportRow] = []
    for row in batch.rows {
      if let id, let stored = try self.row(.importRow, [id, row.place.number]) {
        known.append(try stored.importRow())
      }
      guard let scopeID = try scopeID(row.scope) else { continue }
      for twin in try rows(.importTwins, [scopeID, row.transaction.stored]) {
        twins.append(try twin.importRow())
      }
    }
    var decision = AccountImportDecision(known: known, twins: twins)
    return decision.answer(to: batch.rows)
  }

  fileprivate func add(_ batch: AccountImportBatch) throws -> AccountImportAnswer {
    var id = try importID(batch.name)
    let answer = try importAnswer(to: batch, id: id)
    guard case .rows(let outcomes) = answer else { return answer }
    let added = outcomes.filter { !$0.wasKnown }.map(\.row)
    if added.isEmpty { return .rows(outcomes) }
    let stored: Int64 = try row(.storedImportRows, [])?[0] ?? 0
    guard stored + Int64(added.count) <= AccountImportLimits.rows else { return .full }
    if id == nil {
      try run(
        .insertImport,
        [
          batch.name.rawValue.stored, batch.rows[0].scope.bundleID.stored, batch.author.stored,
          batch.at.rawValue,
        ])
      id = lastInsertedRowID
    }
    for row in added {
      try run(
        .insertImportRow,
        [
          id, row.place.number, try internedScopeID(row.scope), row.fallsBack, row.account.stored,
          row.transaction.stored, row.token?.stored, row.state.rawValue,
          row.reason?.rawValue ?? 0, row.detail.stored, row.dueAt.rawValue, row.changedAt.rawValue,
        ])
    }
    try run(.addImportRows, [added.count, id])
    return .rows(outcomes)
  }

  /// As `dueJobs`: the scopes take turns.
  fileprivate func dueImportRows(
    _ request: AccountImportLease, limit: Int
  ) throws -> [AccountImportRow] {
    let limit = max(0, limit)
    var turns: [[AccountImportRow]] = []
    for scope in Set(request.scopes) {
      guard let scopeID = try scopeID(scope) else { continue }
      let due = try rows(.dueImportRows, [scopeID, request.now.rawValue, limit])
      for (turn, row) in due.enumerated() {
        if turn == turns.count { turns.append([]) }
        turns[turn].append(try row.importRow())
      }
    }
    return Array(turns.flatMap { $0.shuffled() }.prefix(limit))
  }
}

extension Row {
  /// A row of ``StoreStatement/importByName``.
  fileprivate func summary() -> AccountImportSummary {
    AccountImportSummary(
      id: self[0], name: AccountImportName(rawValue: self[1]), bundleID: identifier(2),
      author: self[3], beganAt: Milliseconds(self[4]), lastRow: 0)
  }

  /// A row of ``StoreStatement/importRow``.
  ///
  /// - Throws: ``StoreError/Code/corrupt``.
  fileprivate func importRow() throws -> AccountImportRow {
    let (state, reason) = try AccountImportRow.stored(state: self[8], reason: self[9])
    return AccountImportRow(
      place: AccountImportRow.Place(AccountImportName(rawValue: self[0]), self[1]),
      scope: try scope(bundleID: 2, environment: 3), fallsBack: self[4], account: identifier(5),
      transaction: identifier(6), token: identifier(7), state: state, reason: reason,
      detail: self[10], dueAt: Milliseconds(self[11]), lease: self[12], failures: self[13],
      refusals: self[14], cursor: self[15], changedAt: Milliseconds(self[16]))
  }
}
