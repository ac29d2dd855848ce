import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  /// Sequence number of the last change.
  func feedEnd() throws -> Int64 {
    try numberOfFeed(.feedEnd)
  }

  /// - Throws: ``StoreError/Code/cursorExpired`` when changes after `sequence` were trimmed. 0
  ///   means the oldest change that is kept.
  func checkFeedReaches(_ sequence: Int64) throws {
    let trimmed = try trimmedThrough()
    if sequence > 0, sequence < trimmed {
      throw StoreError(.cursorExpired, "the feed starts at change \(trimmed + 1)")
    }
  }

  /// Sequence number of the last trimmed change.
  func trimmedThrough() throws -> Int64 {
    try numberOfFeed(.trimmedThrough)
  }

  /// Commit time of the next change that is not later than `now`. A clock that was ahead may have
  /// written later times.
  ///
  /// - Parameter change: a row of ``StoreStatement/oldestChanges``.
  func moment(after change: Row?, before now: Milliseconds) throws -> Milliseconds? {
    guard let change else { return nil }
    return try row(.nextChange, [change[0] as Int64, now.rawValue]).map { Milliseconds($0[0]) }
  }

  private func numberOfFeed(_ statement: StoreStatement) throws -> Int64 {
    guard let row = try row(statement, []) else {
      throw StoreError(.corrupt, "the start of the feed is not stored")
    }
    return row[0]
  }

  /// - Parameter row: a row of ``StoreStatement/changePage``.
  func change(_ row: Row) throws -> Change {
    let scope = try row.scope(bundleID: 5, environment: 6)
    var subject: CustomerSubject?
    if let account: AccountID = row.identifier(3) {
      subject = .account(scope, account)
    } else if let chain: OriginalTransactionID = try row.packedIdentifier(4) {
      subject = .unlinkedChain(scope, chain)
    }
    let sequence: Int64 = row[0]
    let kinds = ChangeKinds(rawValue: row[1])
    return Change(
      sequence: sequence, scope: scope, subject: subject, kinds: kinds,
      events: kinds.contains(.events) ? try events(ofChange: sequence) : [],
      committedAt: Milliseconds(row[2]))
  }

  private func events(ofChange sequence: Int64) throws -> [FeedEvent] {
    try rows(.eventsOfChange, [sequence]).map { row in
      guard let kind = FeedEventKind(rawValue: row[0]) else {
        throw StoreError(.corrupt, "a stored event is of an unknown kind")
      }
      let refetchReason = try (row[5] as Int?).map { value in
        guard let reason = RefetchReason(rawValue: value) else {
          throw StoreError(.corrupt, "a stored event has an unknown reason")
        }
        return reason
      }
      return FeedEvent(
        kind: kind, notificationUUID: row.identifier(1), originalTransactionID: row.identifier(2),
        transactionID: row.identifier(3), deadline: (row[4] as Int64?).map { Milliseconds($0) },
        refetchReason: refetchReason, detail: row[6])
    }
  }
}
