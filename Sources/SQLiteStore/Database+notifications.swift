import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  func receivedNotification(_ uuid: NotificationUUID) throws -> ReceivedNotification? {
    var proofs = ProofReader(database: self)
    return try row(.signedNotification, [uuid.stored]).map {
      try Self.receivedNotification($0, &proofs)
    }
  }

  /// Those that speak of the chains of an account, oldest first.
  func notifications(
    ofAccount account: Int64, _ proofs: inout ProofReader
  ) throws -> [ReceivedNotification] {
    try rows(.notificationsOfAccount, [account]).map {
      try Self.receivedNotification($0, &proofs)
    }
  }

  /// The same, without what Apple signed.
  func notificationRecords(ofAccount account: Int64) throws -> [ReceivedRecord] {
    try rows(.notificationRecordsOfAccount, [account]).map { row in
      ReceivedRecord(record: try Self.record(row), receivedAt: Milliseconds(row[8]))
    }
  }

  private static func receivedNotification(
    _ row: Row, _ proofs: inout ProofReader
  ) throws -> ReceivedNotification {
    ReceivedNotification(
      notification: SignedNotification(
        record: try record(row),
        signed: SignedPayload(
          header: try proofs.header(row[11]), payload: try row.bytes(9),
          signature: try row.bytes(10))),
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
