import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  /// All grants of an account, by creation time, then by id.
  func grants(ofAccount account: Int64, in scope: AppScope) throws -> [Grant] {
    try rows(.grantsOfAccount, [account]).map { Self.grant($0, in: scope) }
  }

  func grant(_ id: GrantID, in scope: AppScope, scopeID: Int64) throws -> Grant? {
    try row(.findGrant, [scopeID, id.stored]).map { Self.grant($0, in: scope) }
  }

  private static func grant(_ row: Row, in scope: AppScope) -> Grant {
    var grant = Grant(
      id: row.identifier(0), scope: scope, accountID: row.identifier(1),
      entitlementID: row.identifier(2), starts: Milliseconds(row[3]),
      expires: (row[4] as Int64?).map { Milliseconds($0) }, reason: row[5], author: row[6],
      onBehalfOf: row[11],
      createdAt: Milliseconds(row[7]))
    // A CHECK constraint ensures that all three are set or none.
    if let at: Int64 = row[8], let author: String = row[9], let reason: String = row[10] {
      grant.withdrawal = GrantWithdrawal(
        at: Milliseconds(at), author: author, onBehalfOf: row[12], reason: reason)
    }
    return grant
  }
}

extension Database {
  /// Links of an account: chains before app transactions, then by id.
  func links(ofAccount account: Int64) throws -> [LinkedTarget] {
    let chains = try rows(.chainLinksOfAccount, [account]).map { row in
      try Self.linkedTarget(.chain(row.packedIdentifier(0)), row)
    }
    let appTransactions = try rows(.appTransactionLinksOfAccount, [account]).map { row in
      try Self.linkedTarget(.appTransaction(row.packedIdentifier(0)), row)
    }
    return chains + appTransactions
  }

  private static func linkedTarget(_ target: LinkTarget, _ row: Row) throws -> LinkedTarget {
    LinkedTarget(
      target: target, isUnsigned: row[1], isContested: try row.linkStanding(4).isContested,
      since: Milliseconds(row[2]),
      reason: try reason(row, at: 3))
  }

  func linkHistory(of target: LinkTarget, scopeID: Int64) throws -> [LinkEvent] {
    let rows =
      switch target {
      case .chain(let id): try rows(.historyOfChain, [scopeID, id.packed])
      case .appTransaction(let id):
        try rows(.historyOfAppTransaction, [scopeID, id.packed, id.packed])
      }
    return try rows.map { try Self.linkEvent($0) }
  }

  /// Link events of an account and of the accounts merged into it, oldest first.
  func linkHistory(of account: StoredAccount) throws -> [TargetLinkEvent] {
    var events: [Int64: TargetLinkEvent] = [:]
    let merged: [Int64] = try rows(.mergedAccounts, [account.id]).map { $0[0] }
    for id in [account.id] + merged {
      for row in try rows(.historyOfAccount, [id, id]) {
        events[row[10]] = TargetLinkEvent(
          target: try Self.target(row), event: try Self.linkEvent(row))
      }
    }
    return events.sorted { $0.key < $1.key }.map(\.value)
  }

  /// - Parameter row: a row of ``StoreStatement/historyOfAccount``.
  private static func target(_ row: Row) throws -> LinkTarget {
    if let chain: OriginalTransactionID = try row.packedIdentifier(11) { return .chain(chain) }
    if let appTransaction: AppTransactionID = try row.packedIdentifier(12) {
      return .appTransaction(appTransaction)
    }
    throw StoreError(.corrupt, "a stored link event has no target")
  }

  /// - Parameter row: a row of a statement that reads `link_history`.
  private static func linkEvent(_ row: Row) throws -> LinkEvent {
    LinkEvent(
      from: row.identifier(0), to: row.identifier(1), isFromErased: row[6], isToErased: row[7],
      reason: try reason(row, at: 2),
      author: row.hasNull(atIndex: 4) ? nil : try LinkAuthor(encoded: row.bytes(4)),
      traceID: row.hasNull(atIndex: 9) ? nil : try row.bytes(9),
      onBehalfOf: row[8], note: row[5], at: Milliseconds(row[3]))
  }

  private static func reason(_ row: Row, at index: Int) throws -> LinkReason {
    guard let reason = LinkReason(storedNumber: row[index]) else {
      throw StoreError(.corrupt, "a stored link event has an unknown reason")
    }
    return reason
  }
}

extension Database {
  func receivedNotification(
    _ uuid: NotificationUUID, _ vault: PayloadVault
  ) throws -> ReceivedNotification? {
    var proofs = ProofReader(database: self, vault: vault)
    return try row(.signedNotification, [uuid.stored]).map {
      try Self.receivedNotification($0, &proofs)
    }
  }

  /// Notifications about the chains of an account, oldest first.
  func notifications(
    ofAccount account: Int64, _ proofs: inout ProofReader
  ) throws -> [ReceivedNotification] {
    try rows(.notificationsOfAccount, [account]).map {
      try Self.receivedNotification($0, &proofs)
    }
  }

  /// The same without the signed payloads.
  func notificationRecords(ofAccount account: Int64) throws -> [ReceivedRecord] {
    try rows(.notificationRecordsOfAccount, [account]).map { row in
      ReceivedRecord(record: try Self.record(row), receivedAt: Milliseconds(row[8]))
    }
  }

  /// A page of all notifications, in the order of their row ids, which is that of their commits.
  func notifications(_ query: NotificationQuery) throws -> NotificationPage {
    var page = NotificationPage(notifications: [], next: nil)
    let scanLimit = max(0, query.scanLimit)
    if query.limit < 1 || scanLimit == 0 { return page }
    var found: [(id: Int64, received: ReceivedRecord)] = []
    var scanned = 0
    let rows = try Row.fetchCursor(
      cachedStatement(sql: StoreStatement.notificationPage.rawValue),
      arguments: [query.after?.number ?? .max, scanLimit])
    while let row = try rows.next() {
      let received = ReceivedRecord(
        record: try Self.record(row), receivedAt: Milliseconds(row[8]))
      if query.isBefore(received) { break }
      scanned += 1
      let id: Int64 = row[9]
      if query.selects(received) { found.append((id, received)) }
      if found.count == query.limit || scanned == scanLimit {
        page.next = NotificationQuery.Place(number: id)
        break
      }
    }
    page.notifications = try found.map { id, received in
      ListedNotification(
        received: received, chain: try self.row(.chainOfNotification, [id])?.packedIdentifier(0))
    }
    return page
  }

  private static func receivedNotification(
    _ row: Row, _ proofs: inout ProofReader
  ) throws -> ReceivedNotification {
    let record = try record(row)
    let header = try proofs.header(row[11])
    let payload = try proofs.vault.payload(
      of: row.bytes(9), digest: record.digest, header: header)
    return ReceivedNotification(
      notification: SignedNotification(
        record: record,
        signed: SignedPayload(
          header: header, payload: payload, signature: try row.bytes(10))),
      receivedAt: Milliseconds(row[8]))
  }

  private static func record(_ row: Row) throws -> NotificationRecord {
    let bundleID: BundleID? = row.identifier(1)
    return NotificationRecord(
      uuid: row.identifier(0), type: row[3], subtype: row[4],
      scope: try bundleID.map { _ in try row.scope(bundleID: 1, environment: 2) },
      status: row[5], signedDate: (row[6] as Int64?).map { Milliseconds($0) },
      digest: try row.digest(7))
  }
}

extension NotificationQuery {
  fileprivate func selects(_ received: ReceivedRecord) -> Bool {
    let record = received.record
    if let bundleID, record.scope?.bundleID != bundleID { return false }
    if let environment, record.scope?.environment != environment { return false }
    if let type, record.type != type { return false }
    return since.map { received.receivedAt >= $0 } ?? true
  }

  /// Whether neither a notification nor any before it can have been received since the moment that
  /// the query names. The order of commits is not quite that of the moments: a commit takes seconds,
  /// and a clock can be set back.
  fileprivate func isBefore(_ received: ReceivedRecord) -> Bool {
    guard let since else { return false }
    let (moment, isOverflow) = since.rawValue.subtractingReportingOverflow(Self.disorder)
    return !isOverflow && received.receivedAt.rawValue < moment
  }

  /// One hour.
  private static let disorder: Int64 = 3_600_000
}
