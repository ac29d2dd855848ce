import EntitlementDomain
import EntitlementStore
import GRDB

// What is only ever added: notifications, the history of links, and the feed.
extension ChangesWriter {
  mutating func write(_ write: NotificationWrite) throws {
    let record = write.notification.record
    guard case .jws(let header, let signature) = write.notification.signed.proof else {
      throw StoreError(.internalFault, "a notification comes as a JWS only")
    }
    var chainRowID: Int64?
    if let scope = record.scope, let id = write.chain {
      chainRowID = try database.chain(id, scopeID: scopes.interned(scope))?.id
    }
    try database.run(
      .insertNotification,
      [
        record.uuid.stored, record.scope.map { try scopes.interned($0) }, record.type.stored,
        record.subtype?.stored, record.status, record.signedDate?.rawValue,
        write.receivedAt.rawValue, record.digest.stored, database.internedHeaderID(header),
        write.notification.signed.payload.stored, signature.stored, chainRowID,
      ])
  }

  mutating func write(_ write: LinkEventWrite) throws {
    let scope = write.target.scope
    let event = write.event
    var chainRowID: Int64?
    var appTransaction: AppTransactionID?
    switch write.target.target {
    case .chain(let id): chainRowID = try chain(write.target, id).id
    case .appTransaction(let id): appTransaction = id
    }
    try database.run(
      .insertLinkEvent,
      [
        chainRowID, scopes.interned(scope), appTransaction?.stored,
        accountRowID(event.from, in: scope), accountRowID(event.to, in: scope),
        event.reason.rawValue, event.at.rawValue, event.author?.stored, event.note?.stored,
        event.isFromErased, event.isToErased,
      ])
  }

  mutating func write(_ change: ChangeWrite, sequence: Int64) throws {
    var accountID: Int64?
    var chainID: Int64?
    switch change.subject {
    case .account(let scope, let id): accountID = try accountRowID(id, in: scope)
    case .unlinkedChain(let scope, let id):
      chainID = try chain(ScopedTarget(scope, .chain(id)), id).id
    case nil: break
    }
    try database.run(
      .insertChange,
      [
        sequence, scopes.interned(change.scope), accountID, chainID, change.kinds.rawValue,
        change.committedAt.rawValue,
      ])
    for (position, event) in change.events.enumerated() {
      try database.run(
        .insertChangeEvent,
        [
          sequence, position, event.kind.rawValue, event.notificationUUID.stored,
          event.originalTransactionID?.stored, event.transactionID?.stored,
          event.deadline?.rawValue, event.refetchReason?.rawValue, event.detail?.stored,
        ])
    }
  }
}
