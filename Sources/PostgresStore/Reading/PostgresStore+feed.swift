package import EntitlementDomain
package import EntitlementStore

extension PostgresStore {
  package func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    let rows = try await query(
      FeedStatements.page, [.int64(max(0, sequence)), .int64(Int64(max(0, limit)))])
    try checkFeedReaches(sequence, rows)
    var changes: [Change] = []
    for row in 0..<rows.count {
      guard let sequence = try rows.optionalNumber(row, 1) else { continue }
      let scope = try await scopes.scope(try rows.number(row, 2))
      let events = try rows.optionalData(row, 7)
      changes.append(
        Change(
          sequence: sequence, scope: scope, subject: try rows.subject(row, 3, in: scope),
          kinds: ChangeKinds(rawValue: Int(try rows.number(row, 5))),
          events: try events.map { bytes throws(StoreError) in try StoredEvents.decode(bytes) }
            ?? [],
          committedAt: try rows.moment(row, 6)))
    }
    return changes
  }

  package func feedEnd() async throws(StoreError) -> Int64 {
    let rows = try await query(FeedStatements.end, [])
    return try rows.number(0, 0)
  }

  package func commitTimeOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds? {
    let rows = try await query(FeedStatements.moment, [.int64(sequence)])
    let trimmed = try rows.number(0, 0)
    if trimmed == sequence { return nil }
    guard trimmed < sequence, let moment = try rows.optionalMoment(0, 1) else {
      throw StoreError(.cursorExpired, "the change is no longer in the feed")
    }
    return moment
  }

  // MARK: Following

  package func followerCursor() async throws(StoreError) -> FollowerCursor {
    for _ in 0..<Self.maximumHistoryAttempts {
      let rows = try await query(FeedStatements.followerCursor, [])
      if let history = try rows.optionalString(0, 3) {
        return FollowerCursor(
          position: try rows.number(0, 0), latest: try rows.optionalNumber(0, 1),
          inFlight: try rows.string(0, 2), history: history)
      }
      try await DatabaseHistory.begin(primary, limit: limits.exchangeTimeLimit)
    }
    throw StoreError(.unavailable, "the database changes its history again and again")
  }

  /// One attempt begins the history of a new primary. A failover may come between it and the next.
  private static let maximumHistoryAttempts = 3

  package func changedCustomers(since cursor: FollowerCursor) async throws(StoreError)
    -> ChangedCustomers
  {
    let rows = try await query(
      FeedStatements.changedCustomers,
      [
        .int64(max(0, cursor.latest)), .text(cursor.inFlight ?? Self.emptySnapshot),
        .int64(Self.maximumChangesAtOnce),
      ])
    let history = try rows.optionalString(0, 3)
    // A history without an id is another one too: see ``DatabaseHistory``.
    if cursor.history != nil, cursor.history != history {
      // Ids that were assigned in the lost part of the history may be missing or reassigned.
      scopes.forget()
      headers.forget()
      throw StoreError(.cursorExpired, "the database has another history than the cursor")
    }
    try checkFeedReaches(cursor.position, rows)
    var subjects: Set<CustomerSubject> = []
    var latest = max(0, cursor.latest)
    var countBeyond: Int64 = 0
    for row in 0..<rows.count {
      guard let sequence = try rows.optionalNumber(row, 4) else { continue }
      if sequence > cursor.latest { countBeyond += 1 }
      latest = max(latest, sequence)
      guard ChangeKinds(rawValue: Int(try rows.number(row, 8))).increasesRevision else { continue }
      let scope = try await scopes.scope(try rows.number(row, 5))
      if let subject = try rows.subject(row, 6, in: scope) { subjects.insert(subject) }
    }
    let end = try rows.number(0, 1)
    let isComplete = countBeyond < Self.maximumChangesAtOnce
    return ChangedCustomers(
      subjects: Array(subjects),
      cursor: FollowerCursor(
        // A transaction that ends in another database can temporarily move the watermark back.
        position: max(cursor.position, isComplete ? end : min(end, latest)), latest: latest,
        inFlight: try rows.string(0, 2), history: cursor.history),
      isComplete: isComplete)
  }

  /// Changes in one answer, so that dropping the cached answers does not pause readers noticeably.
  private static let maximumChangesAtOnce: Int64 = 1_000

  /// A snapshot without transactions in flight.
  private static let emptySnapshot = "1:1:"

  // MARK: Trimming

  /// The clock of the database, which is the same for all nodes. The clock of this node is a witness:
  /// if the two differ by more than is plausible, one is wrong, and this node trims nothing.
  ///
  /// Commit times are those of the nodes, as all other moments of a write are. A wrong one deletes
  /// nothing but itself early: trimming stops at the first entry that has to stay.
  package func trimmingTime(
    clock: Milliseconds, elapsed: Duration, retention: Duration
  ) async throws(StoreError) -> TrimmingTime {
    let rows = try await query(FeedStatements.clock, [])
    let now = try rows.moment(0, 0)
    let (difference, isTooLarge) = clock.rawValue.subtractingReportingOverflow(now.rawValue)
    let distance = isTooLarge ? UInt64.max : difference.magnitude
    guard distance <= TrimmingTime.bound(retention: retention).wholeMilliseconds.magnitude else {
      return TrimmingTime(
        now: nil,
        doubt:
          "the clocks of this node and of PostgreSQL differ by \(distance / 1_000) s; this node "
          + "deletes no entries. Correct the clock that is wrong")
    }
    return TrimmingTime(now: now)
  }

  package func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    // Bounded, so that one step does not block other writers for long.
    let limit = min(max(0, limit), Self.maximumTrimmedAtOnce)
    let results = try await primary.write(
      [
        PostgresCommand(
          FeedStatements.trim,
          [.int64(moment.rawValue), .int64(Int64(limit)), .int64(now.rawValue)]),
        PostgresCommand(SequenceOffset.deleteOldTokens),
        PostgresCommand(
          WriteStatements.deleteOldRefusedClaims,
          [.int64(now.advanced(by: -RefusedClaim.lifetime).rawValue)]),
      ], within: limits.writeTimeLimit)
    guard let rows = results.first else { return 0 }
    return Int(try rows.number(0, 0))
  }

  private static let maximumTrimmedAtOnce = 10_000

  /// - Parameter rows: the first column is the sequence number up to which the feed was trimmed.
  private func checkFeedReaches(_ position: Int64, _ rows: PostgresRows) throws(StoreError) {
    guard position > 0, try rows.number(0, 0) > position else { return }
    throw StoreError(.cursorExpired, "changes after this position have been trimmed")
  }
}

extension PostgresRows {
  /// - Parameter column: the account. The chain is in the next column.
  fileprivate func subject(_ row: Int, _ column: Int, in scope: AppScope) throws(StoreError)
    -> CustomerSubject?
  {
    if let account = try optionalString(row, column) { return .account(scope, AccountID(account)) }
    return try optionalString(row, column + 1).map {
      .unlinkedChain(scope, OriginalTransactionID($0))
    }
  }
}
