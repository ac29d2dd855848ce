import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  /// Appends a change to the feed. Its number becomes the customer's revision, unless it tells of
  /// events alone, which leave the state as it was.
  ///
  /// - Parameter customer: nil for events that concern no customer that is known.
  func appendChange(
    _ kinds: ChangeKinds, of customer: CustomerRow?, scopeID: Int64, events: [FeedEvent] = [],
    at: Milliseconds
  ) throws {
    var account: Int64?
    var chain: Int64?
    switch customer {
    case .account(let id): account = id
    case .chain(let id): chain = id
    case nil: break
    }
    try run(.insertChange, [scopeID, account, chain, kinds.rawValue, at.rawValue])
    let sequence = lastInsertedRowID
    for (position, event) in events.enumerated() {
      try run(
        .insertChangeEvent,
        [
          sequence, position, event.kind.rawValue, event.notificationUUID.stored,
          event.originalTransactionID?.stored, event.transactionID?.stored,
          event.deadline?.rawValue, event.refetchReason?.rawValue, event.detail?.stored,
        ])
    }
    guard kinds.movesRevision else { return }
    if let account { try run(.setAccountRevision, [sequence, at.rawValue, account]) }
    if let chain { try run(.setChainRevision, [sequence, at.rawValue, chain]) }
  }

  /// - Parameter row: of ``StoreStatement/changePage``.
  func change(_ row: Row) throws -> Change {
    let scope = try row.scope(bundleID: 5, environment: 6)
    var subject: CustomerSubject?
    if let account: AccountID = row.identifier(3) {
      subject = .account(scope, account)
    } else if let chain: OriginalTransactionID = row.identifier(4) {
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

extension ChangeKinds {
  /// Whether such a change makes answers out of date.
  var movesRevision: Bool { !subtracting(.events).isEmpty }
}
