package import EntitlementDomain
package import EntitlementStore
import GRDB

// What the App Store is told about consumption (R86).
extension SQLiteStore {
  package func consumption(
    _ key: ConsumptionKey
  ) async throws(StoreError) -> ConsumptionRecord? {
    try await read { try $0.consumption(key) }
  }

  package func consumptionRequests(
    _ query: ConsumptionQuery
  ) async throws(StoreError) -> ConsumptionPage {
    try await read { try $0.consumptionRequests(query) }
  }

  package func consumptionConsent(
    of account: AccountID, in scope: AppScope
  ) async throws(StoreError) -> ConsumptionConsent? {
    try await read { database in
      guard let scopeID = try database.scopeID(scope),
        let stored = try database.account(account, scopeID: scopeID)
      else { return nil }
      return try database.consent(ofAccount: stored.mergedInto ?? stored.id)
    }
  }

  package func change(_ change: ConsumptionChange) async throws(StoreError) -> ConsumptionAnswer {
    let answer = try await decide { ledger in
      let answer = try ledger.change(change)
      return { _ in answer }
    }
    return try await identified(answer)
  }

  package func consumptionCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> ConsumptionCounts {
    try await read { database in
      let limit = ConsumptionCounts.limit
      var open = 0
      var earliest: Int64?
      for scope in Set(scopes) {
        guard let scopeID = try database.scopeID(scope) else { continue }
        let count: Int? = try database.row(
          .openConsumptionCount, [scopeID, scopeID, limit - 1])?[0]
        let first: Int64? = try database.row(.earliestConsumption, [scopeID])?[0]
        open = min(open + (count ?? 0), limit)
        earliest = [earliest, first].compactMap(\.self).min()
      }
      return ConsumptionCounts(
        open: open,
        earliestDeadline: earliest.map {
          Milliseconds($0).advanced(by: NotificationReview.consumptionDeadline)
        })
    }
  }
}

extension Database {
  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord? {
    guard let scopeID = try scopeID(key.scope) else { return nil }
    return try row(.consumptionByKey, [scopeID, key.transactionID.stored])?.consumption()
  }

  /// - Parameter account: the id of its row.
  func consent(ofAccount account: Int64) throws -> ConsumptionConsent? {
    guard let row = try row(.consentOfAccount, [account]) else { return nil }
    return ConsumptionConsent(
      isGiven: row[0], at: Milliseconds(row[1]), author: row[2], onBehalfOf: row[3], note: row[4])
  }

  fileprivate func consumptionRequests(_ query: ConsumptionQuery) throws -> ConsumptionPage {
    var page = ConsumptionPage(records: [], next: nil)
    let scanLimit = max(0, query.scanLimit)
    if query.limit < 1 || scanLimit == 0 { return page }
    var scanned = 0
    var arguments: StatementArguments = [query.after, scanLimit]
    if let state = query.state { arguments = [state.rawValue] + arguments }
    let rows = try Row.fetchCursor(
      cachedStatement(
        sql: (query.state == nil ? StoreStatement.consumptionPage : .consumptionPageByState)
          .rawValue), arguments: arguments)
    while let row = try rows.next() {
      scanned += 1
      let record = try row.consumption()
      if query.selects(record) { page.records.append(record) }
      if page.records.count == query.limit || scanned == scanLimit {
        page.next = record.id
        break
      }
    }
    return page
  }

  /// Inserts a record that has no id, and replaces another one.
  func write(_ record: ConsumptionRecord, scopeID: Int64) throws {
    let request = record.request
    let values: StatementArguments = [
      record.statement.percentage, record.statement.deliveryStatus?.rawValue,
      request?.state.rawValue, request?.cause?.rawValue, try request?.notificationUUID.stored,
      try request?.reason?.stored, request?.requestedAt.rawValue, try request?.detail.stored,
      request?.attempts, try request?.sending?.stored, request?.openedAt.rawValue,
      request?.changedAt.rawValue,
    ]
    if let id = record.id {
      try run(.setConsumption, values + [id])
    } else {
      try run(.insertConsumption, [scopeID, record.key.transactionID.stored] + values)
    }
  }

  /// - Parameter account: the id of its row.
  func write(_ consent: ConsumptionConsent?, ofAccount account: Int64) throws {
    guard let consent else { return try run(.deleteConsent, [account]) }
    try run(
      .setConsent,
      [
        account, consent.isGiven, consent.at.rawValue, consent.author.stored,
        consent.onBehalfOf?.stored, consent.note.stored,
      ])
  }
}

extension Row {
  /// A row of ``StoreStatement/consumptionByKey``.
  ///
  /// - Throws: ``StoreError/Code/corrupt``.
  fileprivate func consumption() throws -> ConsumptionRecord {
    var record = ConsumptionRecord(
      ConsumptionKey(try scope(bundleID: 1, environment: 2), identifier(3)), id: self[0],
      statement: try ConsumptionStatement(
        storedPercentage: self[4], deliveryStatus: self[5]))
    guard let stored: Int = self[6] else { return record }
    let (state, cause) = try ConsumptionRequest.stored(state: stored, cause: self[7])
    record.request = ConsumptionRequest(
      notificationUUID: identifier(8), reason: self[9], requestedAt: Milliseconds(self[10]),
      state: state, cause: cause, detail: self[11], attempts: self[12], sending: self[13],
      openedAt: Milliseconds(self[14]), changedAt: Milliseconds(self[15]))
    return record
  }
}
