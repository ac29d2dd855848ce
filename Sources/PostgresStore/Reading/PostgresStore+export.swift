package import EntitlementDomain
package import EntitlementStore

extension PostgresStore {
  package func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?
  {
    guard
      let found = try await snapshot(
        of: account, in: scope,
        [
          ReadStatements.eventsOfAccount, ReadStatements.grantsOfAccount,
          ReadStatements.notificationRecordsOfAccount,
        ])
    else { return nil }
    var notifications: [ReceivedRecord] = []
    for row in 0..<found.rows[2].count {
      notifications.append(try await receivedRecord(found.rows[2], row))
    }
    return AccountHistory(
      accountID: try found.account.identifier(0, 0), linkEvents: try found.rows[0].targetEvents(),
      grants: try found.rows[1].map { rows, row throws(StoreError) in
        try rows.grant(row, 0, scope: scope)
      },
      notifications: notifications)
  }

  package func export(_ account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountExport?
  {
    guard
      let found = try await snapshot(
        of: account, in: scope,
        [
          ReadStatements.mergedIntoAccount, ReadStatements.tokensOfAccount,
          ReadStatements.linksOfAccount, ReadStatements.eventsOfAccount,
          ReadStatements.signedFactsOfAccount, ReadStatements.documentsOfAccount,
          ReadStatements.grantsOfAccount, ReadStatements.notificationsOfAccount,
          ReadStatements.headersOfAccount, ReadStatements.historiesOfAccount,
          ReadStatements.versionsOfAccount, ConsumptionStatements.consentOfAccount,
        ])
    else { return nil }
    let rows = found.rows
    let headers = try Self.headers(rows[8])
    let revision = try found.account.number(0, 1)
    return AccountExport(
      accountID: try found.account.identifier(0, 0), revision: revision,
      changedAt: revision > 0 ? try found.account.moment(0, 2) : nil,
      merged: try rows[0].map { rows, row throws(StoreError) in try rows.identifier(row, 0) },
      tokens: try rows[1].knownTokens(),
      links: try rows[2].linkedTargets(), linkEvents: try rows[3].targetEvents(),
      facts: try signedFacts(rows[4], documents: rows[5], headers: headers, scope: scope),
      versions: try versions(rows[10], histories: rows[9], headers: headers),
      grants: try rows[6].map { rows, row throws(StoreError) in
        try rows.grant(row, 0, scope: scope)
      },
      notifications: try await receivedNotifications(rows[7]) { row throws(StoreError) in
        headers[try rows[7].number(row, 10)]
      }, consent: rows[11].count == 0 ? nil : try rows[11].consent(0))
  }

  /// Runs several statements about an account on one snapshot, in a transaction of its own.
  ///
  /// - Returns: the row of ``ReadStatements/account`` and the rows of each statement; nil for an
  ///   unknown or deleted account.
  private func snapshot(
    of account: AccountID, in scope: AppScope, _ statements: [PostgresStatement]
  ) async throws(StoreError) -> (account: PostgresRows, rows: [PostgresRows])? {
    guard let scopeID = try await scopes.id(of: scope) else { return nil }
    let values: [PostgresValue] = [.int64(scopeID), .text(account.rawValue)]
    let commands =
      [PostgresCommand(Self.begin)]
      + ([ReadStatements.account] + statements).map { PostgresCommand($0, values) }
      + [PostgresCommand(Self.end)]
    let results = try await primary.write(commands, within: limits.readTimeLimit)
    guard results.count == commands.count else {
      throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
    }
    let found = results[1]
    guard found.count > 0, try !found.flag(0, 3) else { return nil }
    return (found, Array(results[2..<(2 + statements.count)]))
  }

  /// - Parameters:
  ///   - rows: of ``ReadStatements/signedFactsOfAccount``.
  ///   - documents: of ``ReadStatements/documentsOfAccount``, from the same snapshot.
  /// - Returns: the facts. Facts of one signer share the header bytes, facts of one document its
  ///   bytes.
  private func signedFacts(
    _ rows: PostgresRows, documents: PostgresRows, headers: [Int64: [UInt8]], scope: AppScope
  ) throws(StoreError) -> [SignedFact] {
    var bytes: [PayloadDigest: [UInt8]] = [:]
    for row in 0..<documents.count {
      let digest = try documents.digest(row, 0)
      bytes[digest] = try vault.payload(of: try documents.data(row, 1), digest: digest)
    }
    return try rows.map { rows, row throws(StoreError) in
      try PostgresStoredFact.signed(rows, row, scope: scope, vault: vault) {
        () throws(StoreError) in
        headers[try rows.number(row, 11)]
      } document: { digest throws(StoreError) in
        bytes[digest]
      }
    }
  }

  /// - Parameters:
  ///   - rows: of ``ReadStatements/versionsOfAccount``.
  ///   - histories: of ``ReadStatements/historiesOfAccount``.
  private func versions(
    _ rows: PostgresRows, histories: PostgresRows, headers: [Int64: [UInt8]]
  ) throws(StoreError) -> [ExportedVersion] {
    var payloads: [FactKey: [StatementDigest: (authority: FactAuthority, signed: SignedPayload)]] =
      [:]
    for row in 0..<rows.count {
      guard let statement = StatementDigest(try rows.data(row, 3)),
        let header = headers[try rows.number(row, 6)]
      else { throw StoreError(.corrupt, "a stored version is not complete") }
      let fact = FactKey(kind: try rows.factKind(row, 0), identifier: try rows.unpacked(row, 1))
      let authority = try rows.authority(row, 2)
      payloads[fact, default: [:]][statement] = (
        authority,
        SignedPayload(
          payload: try vault.version(
            of: try rows.data(row, 4), statement: statement, authority: authority),
          proof: authority == .signedTransaction
            ? .jws(header: header, signature: try rows.data(row, 5)) : .document([]))
      )
    }
    return try [ExportedVersion](
      histories: histories.map { rows, row throws(StoreError) in
        (
          FactKey(kind: try rows.factKind(row, 0), identifier: try rows.unpacked(row, 1)),
          try FactHistory(encoded: try rows.data(row, 2))
        )
      }, payloads: payloads)
  }

  /// - Parameter rows: of ``ReadStatements/headersOfAccount``.
  private static func headers(_ rows: PostgresRows) throws(StoreError) -> [Int64: [UInt8]] {
    var headers: [Int64: [UInt8]] = [:]
    for row in 0..<rows.count { headers[try rows.number(row, 0)] = try rows.data(row, 1) }
    return headers
  }

  private static let begin = PostgresStatement(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", name: "begin_reading")
  private static let end = PostgresStatement("COMMIT", name: "end_reading")
}

extension NotificationPage {
  /// Ends the page at the last row that was looked through. It may be of an app that the caller may not
  /// use, so its UUID is not told: the next page begins with all that was received in the same
  /// millisecond. Only if that is where this page began, the UUID is needed to go on.
  fileprivate mutating func end(at last: ReceivedRecord, after: NotificationQuery.Place?) {
    let moment = last.receivedAt.rawValue
    let again = NotificationQuery.Place(number: moment + 1)
    guard again != after, after?.number != moment else {
      next = NotificationQuery.Place(number: moment, uuid: last.record.uuid.rawValue)
      return
    }
    notifications.removeAll { $0.received.receivedAt.rawValue == moment }
    next = again
  }
}

extension PostgresStore {
  package func notification(_ uuid: NotificationUUID) async throws(StoreError)
    -> SignedNotification?
  {
    let rows = try await query(ReadStatements.notification, [.text(uuid.rawValue)])
    return try await receivedNotifications(rows) { row throws(StoreError) in
      try rows.optionalData(row, 10)
    }.first?.notification
  }

  package func notifications(_ query: NotificationQuery) async throws(StoreError)
    -> NotificationPage
  {
    var page = NotificationPage(notifications: [], next: nil)
    let limit = Int64(max(0, query.limit))
    let isFiltered = query.bundleID != nil || query.environment != nil || query.type != nil
    let scanLimit = min(Int64(max(0, query.scanLimit)), isFiltered ? .max : limit)
    // Nil: all, and none too.
    let scopeIDs = try await selectedScopes(
      bundleID: query.bundleID, environment: query.environment
    )
    .map { Array($0.values) }
    if limit == 0 || scanLimit == 0 || scopeIDs == [] { return page }
    let rows = try await self.query(
      ReadStatements.notificationPage,
      [
        .int64(query.after?.number ?? .max), .text(query.after?.uuid ?? ""),
        .int64(query.since?.rawValue ?? .min), .int64(scanLimit),
        scopeIDs.map { .int64s($0) } ?? .null, query.type.map { .text($0) } ?? .null,
        .int64(limit),
      ])
    for row in 0..<rows.count {
      let received = try await receivedRecord(rows, row)
      if try rows.flag(row, 10) {
        var chain: OriginalTransactionID?
        if try !rows.hasNull(row, 8), case .chain(let id) = try rows.linkTarget(row, 8) {
          chain = id
        }
        page.notifications.append(ListedNotification(received: received, chain: chain))
      }
      if page.notifications.count == query.limit {
        page.next = NotificationQuery.Place(
          number: received.receivedAt.rawValue, uuid: received.record.uuid.rawValue)
      } else if try rows.number(row, 9) == scanLimit {
        page.end(at: received, after: query.after)
      }
    }
    return page
  }

  /// The apps and environments that a query selects, with their ids; nil: all.
  func selectedScopes(
    bundleID: BundleID?, environment: StoreEnvironment?
  ) async throws(StoreError) -> [AppScope: Int64]? {
    if bundleID == nil, environment == nil { return nil }
    if let bundleID, let environment {
      let scope = AppScope(bundleID: bundleID, environment: environment)
      return try await scopes.id(of: scope).map { [scope: $0] } ?? [:]
    }
    // Other nodes may have added some since the cache was filled.
    return try await scopes.load().ids.ids.filter { scope, _ in
      (bundleID ?? scope.bundleID) == scope.bundleID
        && (environment ?? scope.environment) == scope.environment
    }
  }

  /// - Parameters:
  ///   - rows: begin with ``ReadStatements/notificationColumns``.
  ///   - header: returns the header bytes for a row, or nil when they are not stored.
  func receivedNotifications(
    _ rows: PostgresRows, header: (_ row: Int) throws(StoreError) -> [UInt8]?
  ) async throws(StoreError) -> [ReceivedNotification] {
    var notifications: [ReceivedNotification] = []
    for row in 0..<rows.count {
      let received = try await receivedRecord(rows, row)
      guard let header = try header(row) else {
        throw StoreError(.corrupt, "the header of a stored notification is not stored")
      }
      notifications.append(
        ReceivedNotification(
          notification: SignedNotification(
            record: received.record,
            signed: SignedPayload(
              header: header,
              payload: try vault.payload(
                of: try rows.data(row, 8), digest: received.record.digest, header: header),
              signature: try rows.data(row, 9))),
          receivedAt: received.receivedAt))
    }
    return notifications
  }

  /// - Parameter rows: of ``ReadStatements/notificationRecordsOfAccount``, or rows with the same
  ///   first columns.
  func receivedRecord(_ rows: PostgresRows, _ row: Int) async throws(StoreError) -> ReceivedRecord {
    var scope: AppScope?
    if let number = try rows.optionalNumber(row, 1) { scope = try await scopes.scope(number) }
    let record = NotificationRecord(
      uuid: try rows.identifier(row, 0), type: try rows.string(row, 2),
      subtype: try rows.optionalString(row, 3), scope: scope,
      status: try rows.optionalNumber(row, 4), signedDate: try rows.optionalMoment(row, 5),
      digest: try rows.digest(row, 7))
    return ReceivedRecord(record: record, receivedAt: try rows.moment(row, 6))
  }
}
