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

  package func changedCustomers(after position: Int64) async throws(StoreError)
    -> ChangedCustomers
  {
    var subjects: Set<CustomerSubject> = []
    var told = max(0, position)
    var reached = told
    var horizon: Int64?
    while true {
      let rows = try await query(
        FeedStatements.changedCustomers, [.int64(told), .int64(Self.changesOfStep)])
      if horizon == nil {
        try checkFeedReaches(position, rows)
        // Whoever has seen nothing has missed nothing of what was trimmed.
        reached = max(reached, try rows.number(0, 0))
        told = max(told, reached)
      }
      // Later steps may see more: what was not committed at the first is told of again.
      let limit: Int64
      if let horizon { limit = horizon } else { limit = try rows.number(0, 1) }
      horizon = limit
      var count: Int64 = 0
      for row in 0..<rows.count {
        guard let sequence = try rows.optionalNumber(row, 2) else { continue }
        count += 1
        told = max(told, sequence)
        if sequence < limit { reached = max(reached, sequence) }
        guard ChangeKinds(rawValue: Int(try rows.number(row, 6))).movesRevision else { continue }
        let scope = try await scopes.scope(try rows.number(row, 3))
        if let subject = try rows.subject(row, 4, in: scope) { subjects.insert(subject) }
      }
      if count < Self.changesOfStep { break }
    }
    return ChangedCustomers(subjects: Array(subjects), position: reached, latest: told)
  }

  /// Changes that are read at once; all are, in several steps.
  private static let changesOfStep: Int64 = 10_000

  package func trimChanges(committedBefore moment: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    // A step is short enough to hold nobody up.
    let limit = min(max(0, limit), Self.maximumTrimmedAtOnce)
    let results = try await primary.write(
      [
        PostgresCommand(
          FeedStatements.trim, [.int64(moment.rawValue), .int64(Int64(limit))])
      ], within: limits.writeTimeLimit)
    guard let rows = results.first else { return 0 }
    return Int(try rows.number(0, 0))
  }

  private static let maximumTrimmedAtOnce = 10_000

  /// - Parameter rows: what was trimmed is their first column.
  private func checkFeedReaches(_ position: Int64, _ rows: PostgresRows) throws(StoreError) {
    guard position > 0, try rows.number(0, 0) > position else { return }
    throw StoreError(.cursorExpired, "changes after this position were trimmed")
  }
}

extension PostgresRows {
  /// - Parameter column: that of the account; that of the chain follows.
  fileprivate func subject(_ row: Int, _ column: Int, in scope: AppScope) throws(StoreError)
    -> CustomerSubject?
  {
    if let account = try optionalString(row, column) { return .account(scope, AccountID(account)) }
    return try optionalString(row, column + 1).map {
      .unlinkedChain(scope, OriginalTransactionID($0))
    }
  }
}
