package import EntitlementDomain
package import EntitlementStore

extension PostgresStore {
  package func notification(_ uuid: NotificationUUID) async throws(StoreError)
    -> SignedNotification?
  {
    let rows = try await query(ReadStatements.notification, [.text(uuid.rawValue)])
    return try await receivedNotifications(rows) { row throws(StoreError) in
      try rows.optionalData(row, 10)
    }.first?.notification
  }

  /// - Parameters:
  ///   - rows: begin with ``ReadStatements/notificationColumns``.
  ///   - header: the bytes of the header of a row; nil where it is not stored.
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
              header: header, payload: try rows.data(row, 8), signature: try rows.data(row, 9))),
          receivedAt: received.receivedAt))
    }
    return notifications
  }

  /// - Parameter rows: of ``ReadStatements/notificationRecordsOfAccount``, or of the same first
  ///   columns.
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
