package import EntitlementDomain
package import EntitlementStore

// What the App Store is told about consumption (R86). All reads are of the primary.
extension PostgresStore {
  package func consumption(
    _ key: ConsumptionKey
  ) async throws(StoreError) -> ConsumptionRecord? {
    guard let scopeID = try await scopes.id(of: key.scope) else { return nil }
    let rows = try await query(
      ConsumptionStatements.load, [.int64s([scopeID]), .texts([key.transactionID.rawValue])])
    return rows.count == 0 ? nil : try rows.consumption(0, 1, scope: key.scope)
  }

  package func consumptionRequests(
    _ query: ConsumptionQuery
  ) async throws(StoreError) -> ConsumptionPage {
    let limit = Int64(max(0, query.limit))
    let scanLimit = Int64(max(0, query.scanLimit))
    var page = ConsumptionPage(records: [], next: nil)
    let selected = try await selectedScopes(
      bundleID: query.bundleID, environment: query.environment)
    if limit == 0 || scanLimit == 0 || selected?.isEmpty == true { return page }
    var values: [PostgresValue] = [
      .int64(query.after), .int64(scanLimit), selected.map { .int64s(Array($0.values)) } ?? .null,
      .int64(limit),
    ]
    if let state = query.state { values.append(.int64(Int64(state.rawValue))) }
    let rows = try await self.query(
      query.state == nil ? ConsumptionStatements.page : ConsumptionStatements.pageByState, values)
    for row in 0..<rows.count {
      let scope = try await scopes.scope(try rows.number(row, 1))
      let record = try rows.consumption(row, 0, scope: scope)
      if try rows.flag(row, 16) { page.records.append(record) }
      if page.records.count == query.limit { page.next = record.id }
      if try rows.number(row, 15) == scanLimit { page.next = record.id }
    }
    return page
  }

  package func consumptionConsent(
    of account: AccountID, in scope: AppScope
  ) async throws(StoreError) -> ConsumptionConsent? {
    guard let scopeID = try await scopes.id(of: scope) else { return nil }
    let rows = try await query(
      ConsumptionStatements.consentOfAccount, [.int64(scopeID), .text(account.rawValue)])
    return rows.count == 0 ? nil : try rows.consent(0)
  }

  package func change(_ change: ConsumptionChange) async throws(StoreError) -> ConsumptionAnswer {
    switch change.change {
    case .consent, .statement: break
    case .begin, .end, .reopen:
      // Of an app that is not stored there is no request.
      if try await scopes.id(of: change.scope) == nil { return .unknown }
    }
    let answer = try await write(LedgerKey.expected(by: change), in: [change.scope]) { ledger in
      let answer = try ledger.change(change)
      return { _ in answer }
    }
    return try await identified(answer)
  }

  package func consumptionCounts(
    doing scopes: [AppScope]
  ) async throws(StoreError) -> ConsumptionCounts {
    let rows = try await query(
      ConsumptionStatements.counts,
      [.int64(Int64(ConsumptionCounts.limit)), .int64s(try await known(scopes))])
    return ConsumptionCounts(
      open: Int(try rows.number(0, 0)),
      earliestDeadline: try rows.optionalMoment(0, 1)?
        .advanced(by: NotificationReview.consumptionDeadline))
  }
}

extension PostgresValue {
  /// The columns of records after their keys.
  static func consumptionColumns(_ records: [ConsumptionRecord]) -> [PostgresValue] {
    let requests = records.map(\.request)
    return [
      .int64s(records.map(\.statement.percentage)),
      .texts(records.map(\.statement.deliveryStatus?.rawValue)),
      .int64s(requests.map { $0.map { Int64($0.state.rawValue) } }),
      .int64s(requests.map { $0?.cause.map { Int64($0.rawValue) } }),
      .texts(requests.map { $0?.notificationUUID.rawValue }), .texts(requests.map { $0?.reason }),
      .int64s(requests.map { $0?.requestedAt.rawValue }), .texts(requests.map { $0?.detail }),
      .int64s(requests.map { $0.map { Int64($0.attempts) } }), .texts(requests.map { $0?.sending }),
      .int64s(requests.map { $0?.openedAt.rawValue }),
      .int64s(requests.map { $0?.changedAt.rawValue }),
    ]
  }
}

extension PostgresRows {
  /// - Parameter column: the first of ``ConsumptionStatements/columns(_:)``.
  /// - Throws: ``StoreError/Code/corrupt``.
  func consumption(
    _ row: Int, _ column: Int, scope: AppScope
  ) throws(StoreError) -> ConsumptionRecord {
    var record = ConsumptionRecord(
      ConsumptionKey(scope, try identifier(row, column + 2)), id: try number(row, column),
      statement: try ConsumptionStatement(
        storedPercentage: try optionalNumber(row, column + 3),
        deliveryStatus: try optionalString(row, column + 4)))
    guard let stored = try optionalNumber(row, column + 5) else { return record }
    let (state, cause) = try ConsumptionRequest.stored(
      state: Int(stored), cause: try optionalNumber(row, column + 6).map { Int($0) })
    record.request = ConsumptionRequest(
      notificationUUID: try identifier(row, column + 7),
      reason: try optionalString(row, column + 8), requestedAt: try moment(row, column + 9),
      state: state, cause: cause, detail: try string(row, column + 10),
      attempts: Int(try number(row, column + 11)), sending: try optionalString(row, column + 12),
      openedAt: try moment(row, column + 13), changedAt: try moment(row, column + 14))
    return record
  }

  /// A row of ``ConsumptionStatements/loadConsents``.
  func consent(_ row: Int) throws(StoreError) -> ConsumptionConsent {
    ConsumptionConsent(
      isGiven: try flag(row, 1), at: try moment(row, 2), author: try string(row, 3),
      onBehalfOf: try optionalString(row, 4), note: try string(row, 5))
  }
}
