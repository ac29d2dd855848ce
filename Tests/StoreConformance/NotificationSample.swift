import EntitlementDomain

/// The UUID of notification `number` of the suite.
func uuid(_ number: Int) -> NotificationUUID {
  let digits = String(number)
  let padding = String(repeating: "0", count: max(0, 12 - digits.count))
  return NotificationUUID("3c9a17d2-64be-4f0b-9d11-\(padding)\(digits)")
}

/// A notification of the usual app, signed at 4 s.
func notification(
  _ number: Int, _ type: String, scope: AppScope? = readerScope, status: Int64? = nil,
  _ change: (inout NotificationRecord) -> Void = { _ in }
) -> SignedNotification {
  let id = uuid(number)
  let payload = Array("{\"notificationUUID\":\"\(id)\",\"signedDate\":4000}".utf8)
  var record = NotificationRecord(
    uuid: id, type: type, scope: scope, status: status, signedDate: 4_000,
    digest: PayloadSample.digest(of: payload))
  change(&record)
  return SignedNotification(record: record, signed: PayloadSample.signedPayload(payload))
}
