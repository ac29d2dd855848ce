package import EntitlementDomain
package import EntitlementStore

// Imports of accounts (R89). All reads are of the primary.
extension PostgresStore {
  package func add(_ batch: AccountImportBatch) async throws(StoreError) -> AccountImportAnswer {
    if batch.isDryRun {
      var scopeIDs = PostgresScopeIDs()
      for row in batch.rows {
        if let id = try await scopes.id(of: row.scope) { scopeIDs.add(row.scope, id) }
      }
      let name = try await query(ImportStatements.byName, [.text(batch.name.rawValue)])
      let id = name.count > 0 ? try name.number(0, 0) : 0
      let commands = AddedImportRows.reading(batch, of: id, scopeIDs)
      var found: [[AccountImportRow]] = []
      for command in commands {
        found.append(try await importRows(query(command.statement, command.values)))
      }
      var decision = AccountImportDecision(known: found[0], twins: found[1])
      return decision.answer(to: batch.rows)
    }
    let deadline = CallContext.writeDeadline(within: limits.writeTimeLimit)
    let scopeIDs = try await scopes.interned(Set(batch.rows.map(\.scope)), by: deadline)
    // Rows of other imports may be of other apps.
    let known = try await scopes.load().scopes
    do {
      return try await primary.withSession(within: limits.writeTimeLimit) { session in
        try await AddedImportRows(
          session: session, batch: batch, scopeIDs: scopeIDs, scopes: known,
          limit: limits.writeTimeLimit
        ).add()
      }
    } catch {
      throw StoreError(of: error)
    }
  }

  package func imports(_ query: AccountImportQuery) async throws(StoreError)
    -> [AccountImportSummary]
  {
    switch query {
    case .named(let name):
      let rows = try await self.query(ImportStatements.byName, [.text(name.rawValue)])
      guard rows.count > 0 else { return [] }
      var summary = try rows.importSummary(0)
      let id = PostgresValue.int64(summary.id)
      summary.lastRow = try await self.query(ImportStatements.lastRow, [id]).number(0, 0)
      summary.counts = try await self.query(ImportStatements.counts, [id]).map {
        rows, row throws(StoreError) in
        let (state, reason) = try AccountImportRow.stored(
          state: Int(try rows.number(row, 0)), reason: Int(try rows.number(row, 1)))
        return AccountImportSummary.Count(
          state: state, reason: reason, count: try rows.number(row, 2))
      }
      return [summary]
    case .header(let name):
      let rows = try await self.query(ImportStatements.byName, [.text(name.rawValue)])
      guard rows.count > 0 else { return [] }
      var summary = try rows.importSummary(0)
      summary.lastRow = try await self.query(ImportStatements.lastRow, [.int64(summary.id)])
        .number(0, 0)
      return [summary]
    case .after(let id, let limit):
      return try await self.query(
        ImportStatements.page, [.int64(id), .int64(Int64(max(0, limit)))]
      ).map { rows, row throws(StoreError) in
        var summary = try rows.importSummary(row)
        summary.lastRow = try rows.number(row, 5)
        return summary
      }
    }
  }

  package func importRows(_ query: AccountImportRowQuery) async throws(StoreError)
    -> [AccountImportRow]
  {
    guard let id = try await importID(query.name) else { return [] }
    return try await importRows(
      self.query(
        ImportStatements.rowPage,
        [
          .int64(id), .int64(Int64(query.state.rawValue)), .int64(query.after),
          .int64(Int64(max(0, query.limit))), try await scopeIDs(query.scopes),
        ]))
  }

  package func change(_ change: AccountImportChange) async throws(StoreError) -> Int? {
    guard let id = try await importID(change.name) else { return nil }
    let values: [PostgresValue] = [
      .int64(id), .int64(Int64(AccountImportLimits.changedRows)),
    ]
    let selected = values + [.int64(change.at.rawValue), try await scopeIDs(change.scopes)]
    let commands: [PostgresCommand]
    switch change.kind {
    case .cancel: commands = [PostgresCommand(ImportStatements.cancel, selected)]
    case .retry:
      commands = [
        PostgresCommand(ImportStatements.retryFailed, selected),
        PostgresCommand(ImportStatements.retryCancelled, selected),
      ]
    case .delete: commands = [PostgresCommand(ImportStatements.deleteRows, values)]
    }
    let results = try await primary.write(commands, within: limits.writeTimeLimit)
    var changed: Int64 = 0
    for rows in results where rows.count > 0 { changed += try rows.number(0, 0) }
    // The caller of a full batch comes again, and is to find the import.
    if change.kind == .delete, changed < Int64(AccountImportLimits.changedRows) {
      _ = try await primary.write(
        [PostgresCommand(ImportStatements.delete, [.int64(id)])], within: limits.writeTimeLimit)
    }
    return Int(changed)
  }

  package func leaseImportRows(_ request: AccountImportLease) async throws(StoreError)
    -> [AccountImportRow]
  {
    var scopeIDs: Set<Int64> = []
    for scope in request.scopes {
      if let id = try await scopes.id(of: scope) { scopeIDs.insert(id) }
    }
    if scopeIDs.isEmpty || request.limit < 1 { return [] }
    let due: [PostgresValue] = [.int64s(Array(scopeIDs)), .int64(request.now.rawValue)]
    // Takes no connection of the writers while nothing is due.
    guard try await query(ImportStatements.isDue, due).flag(0, 0) else { return [] }
    // After a lost connection the statement may lease other rows. The former ones wait for the end of
    // their lease.
    let results = try await primary.write(
      [
        PostgresCommand(
          ImportStatements.lease,
          due + [
            .text(request.lease), .int64(request.until.rawValue), .int64(Int64(request.limit)),
          ])
      ], within: limits.writeTimeLimit)
    guard let rows = results.first else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    return try await importRows(rows)
  }

  package func importRows(naming accounts: [AccountID], in scope: AppScope, limit: Int)
    async throws(StoreError) -> [AccountImportRow]
  {
    guard let scopeID = try await scopes.id(of: scope) else { return [] }
    return try await importRows(
      query(
        ImportStatements.ofAccounts,
        [.int64(scopeID), .texts(accounts.map(\.rawValue)), .int64(Int64(max(0, limit)))]))
  }

  package func eraseImportRows(
    naming account: AccountID, in scope: AppScope
  ) async throws(StoreError) {
    guard let scopeID = try await scopes.id(of: scope) else { return }
    _ = try await primary.write(
      [
        PostgresCommand(
          ImportStatements.erase, [.int64s([scopeID]), .texts([account.rawValue])]),
        PostgresCommand(
          WriteStatements.eraseRefusedClaims, [.int64s([scopeID]), .texts([account.rawValue])]),
      ], within: limits.writeTimeLimit)
  }

  package func renewImportLeases(
    _ held: [AccountImportRow.Place: String], until: Milliseconds
  ) async throws(StoreError) {
    if held.isEmpty { return }
    let held = Array(held)
    _ = try await primary.write(
      [
        PostgresCommand(
          ImportStatements.renew,
          [
            .texts(held.map(\.key.name.rawValue)), .int64s(held.map(\.key.number)),
            .texts(held.map(\.value)), .int64(until.rawValue),
          ])
      ], within: limits.writeTimeLimit)
  }

  /// Nothing: other processes of the database may hold them.
  package func endLeasesOfFormerProcesses(
    in scopes: [AppScope], at now: Milliseconds
  ) async throws(StoreError) {}

  package func report(_ reports: [AccountImportReport]) async throws(StoreError) {
    if reports.isEmpty { return }
    let waits = reports.map(\.wait)
    _ = try await primary.write(
      [
        PostgresCommand(
          ImportStatements.report,
          [
            .texts(reports.map(\.place.name.rawValue)), .int64s(reports.map(\.place.number)),
            .texts(reports.map(\.lease)), .int64s(reports.map { Int64($0.state.rawValue) }),
            .int64s(reports.map { Int64($0.reason?.rawValue ?? 0) }),
            .texts(reports.map(\.detail)), .int64s(waits.map { $0?.until.rawValue ?? 0 }),
            .int64s(waits.map { $0.map { Int64($0.failures) } }),
            .int64s(waits.map { $0.map { Int64($0.refusals) } }), .texts(reports.map(\.cursor)),
            .int64s(reports.map(\.at.rawValue)),
          ])
      ], within: limits.writeTimeLimit)
  }

  package func waitingImportRows(limit: Int) async throws(StoreError) -> Int {
    Int(
      try await query(ImportStatements.waiting, [.int64(Int64(max(0, limit)))]).number(0, 0))
  }

  // MARK: Steps

  private func importID(_ name: AccountImportName) async throws(StoreError) -> Int64? {
    let rows = try await query(ImportStatements.byName, [.text(name.rawValue)])
    return rows.count > 0 ? try rows.number(0, 0) : nil
  }

  /// Those that are stored.
  private func scopeIDs(_ scopes: [AppScope]) async throws(StoreError) -> PostgresValue {
    var ids: [Int64] = []
    for scope in scopes {
      if let id = try await self.scopes.id(of: scope) { ids.append(id) }
    }
    return .int64s(ids)
  }

  private func importRows(_ rows: PostgresRows) async throws(StoreError) -> [AccountImportRow] {
    var found: [AccountImportRow] = []
    for row in 0..<rows.count {
      found.append(
        try rows.importRow(row, scope: try await scopes.scope(try rows.number(row, 2))))
    }
    return found
  }
}

/// Adds a batch in one transaction. The session rolls back when it is returned early.
private struct AddedImportRows {
  let session: PostgresSession
  let batch: AccountImportBatch
  let scopeIDs: PostgresScopeIDs
  let scopes: [Int64: AppScope]
  let limit: Duration

  /// The commands that read what a decision needs: rows with the numbers of the batch, and those with its
  /// transactions.
  ///
  /// - Parameter id: of the import; 0 for one that is not stored.
  static func reading(
    _ batch: AccountImportBatch, of id: Int64, _ scopeIDs: PostgresScopeIDs
  ) -> [PostgresCommand] {
    let known = batch.rows.filter { scopeIDs.id(of: $0.scope) != nil }
    return [
      PostgresCommand(
        ImportStatements.known, [.int64(id), .int64s(batch.rows.map(\.place.number))]),
      PostgresCommand(
        ImportStatements.twins,
        [.int64s(known.map { scopeIDs[$0.scope] }), .texts(known.map(\.transaction.rawValue))]),
    ]
  }

  func add() async throws -> AccountImportAnswer {
    let begun = try await session.exchange(
      [
        PostgresCommand(ImportStatements.begin), PostgresCommand(ImportStatements.lock),
        PostgresCommand(
          ImportStatements.insert,
          [
            .text(batch.name.rawValue),
            .text(batch.rows.first?.scope.bundleID.rawValue ?? ""), .text(batch.author),
            .int64(batch.at.rawValue),
          ]),
        PostgresCommand(ImportStatements.byName, [.text(batch.name.rawValue)]),
        PostgresCommand(ImportStatements.storedRows),
      ], within: limit)
    let id = try begun[3].number(0, 0)
    let stored = try begun[4].number(0, 0)
    let found = try await session.exchange(Self.reading(batch, of: id, scopeIDs), within: limit)
    var decision = AccountImportDecision(known: try rows(found[0]), twins: try rows(found[1]))
    let answer = decision.answer(to: batch.rows)
    guard case .rows(let outcomes) = answer else {
      _ = try await session.exchange([PostgresCommand(ImportStatements.rollback)], within: limit)
      return answer
    }
    let added = outcomes.filter { !$0.wasKnown }.map(\.row)
    guard !added.isEmpty, stored + Int64(added.count) <= AccountImportLimits.rows else {
      _ = try await session.exchange([PostgresCommand(ImportStatements.rollback)], within: limit)
      return added.isEmpty ? .rows(outcomes) : .full
    }
    try await insert(added, into: id)
    return .rows(outcomes)
  }

  private func insert(_ rows: [AccountImportRow], into id: Int64) async throws {
    let results = try await session.exchange(
      [
        PostgresCommand(
          ImportStatements.insertRows,
          [
            .int64(id), .int64s(rows.map(\.place.number)),
            .int64s(rows.map { scopeIDs[$0.scope] }), .bools(rows.map(\.fallsBack)),
            .texts(rows.map(\.account.rawValue)), .texts(rows.map(\.transaction.rawValue)),
            .texts(rows.map(\.token?.rawValue)), .int64s(rows.map { Int64($0.state.rawValue) }),
            .int64s(rows.map { Int64($0.reason?.rawValue ?? 0) }), .texts(rows.map(\.detail)),
            .int64s(rows.map(\.dueAt.rawValue)), .int64s(rows.map(\.changedAt.rawValue)),
          ]),
        PostgresCommand(ImportStatements.addCount, [.int64(id), .int64(Int64(rows.count))]),
        PostgresCommand(ImportStatements.commit),
      ], within: limit)
    guard results.last?.tag == "COMMIT" else {
      throw PostgresFailure(.protocolViolation, "COMMIT did not commit the transaction")
    }
  }

  private func rows(_ found: PostgresRows) throws(StoreError) -> [AccountImportRow] {
    try found.map { rows, row throws(StoreError) in
      guard let scope = scopes[try rows.number(row, 2)] else {
        throw StoreError(.corrupt, "no app and environment has the stored id")
      }
      return try rows.importRow(row, scope: scope)
    }
  }
}

extension PostgresRows {
  /// A row that begins as ``ImportStatements/byName``.
  fileprivate func importSummary(_ row: Int) throws(StoreError) -> AccountImportSummary {
    AccountImportSummary(
      id: try number(row, 0), name: AccountImportName(rawValue: try string(row, 1)),
      bundleID: try identifier(row, 2), author: try string(row, 3),
      beganAt: try moment(row, 4), lastRow: 0)
  }

  /// - Throws: ``StoreError/Code/corrupt``.
  fileprivate func importRow(_ row: Int, scope: AppScope) throws(StoreError) -> AccountImportRow {
    let (state, reason) = try AccountImportRow.stored(
      state: Int(try number(row, 7)), reason: Int(try number(row, 8)))
    return AccountImportRow(
      place: AccountImportRow.Place(
        AccountImportName(rawValue: try string(row, 0)), try number(row, 1)),
      scope: scope, fallsBack: try flag(row, 3), account: try identifier(row, 4),
      transaction: try identifier(row, 5),
      token: try optionalString(row, 6).map { AppAccountToken($0) }, state: state, reason: reason,
      detail: try string(row, 9), dueAt: try moment(row, 10), lease: try optionalString(row, 11),
      failures: Int(try number(row, 12)), refusals: Int(try number(row, 13)),
      cursor: try string(row, 14), changedAt: try moment(row, 15))
  }
}
