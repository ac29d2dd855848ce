import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  func receivedNotification(_ uuid: NotificationUUID) throws -> ReceivedNotification? {
    try row(.signedNotification, [uuid.stored]).map { try Self.receivedNotification($0) }
  }

  /// Those that speak of the chains of an account, oldest first.
  func notifications(ofAccount account: Int64) throws -> [ReceivedNotification] {
    try rows(.notificationsOfAccount, [account]).map { try Self.receivedNotification($0) }
  }

  private static func receivedNotification(_ row: Row) throws -> ReceivedNotification {
    let bundleID: BundleID? = row.identifier(1)
    let record = NotificationRecord(
      uuid: row.identifier(0), type: row[3], subtype: row[4],
      scope: try bundleID.map { _ in try row.scope(bundleID: 1, environment: 2) },
      status: row[5], signedDate: (row[6] as Int64?).map { Milliseconds($0) },
      digest: try row.digest(7))
    return ReceivedNotification(
      notification: SignedNotification(
        record: record,
        signed: SignedPayload(
          header: try row.bytes(10), payload: try row.bytes(8), signature: try row.bytes(9))),
      receivedAt: Milliseconds(row[11]))
  }
}
