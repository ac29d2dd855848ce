/// A verified App Store Server Notification (V2). It is stored for audit, and to recognise
/// duplicate deliveries by the UUID. Its type never decides access; the facts inside it do (R2).
///
/// The record has only the fields that are queried. The stored payload has all others.
package struct NotificationRecord: Hashable, Sendable {
  package var uuid: NotificationUUID
  /// The raw `notificationType`, known or unknown (R10).
  package var type: String
  package var subtype: String?
  /// The app and environment of the notification; nil when it names none.
  package var scope: AppScope?
  /// The subscription's status in Apple's view at the time of signing (`data.status`, R47).
  package var status: Int64?
  package var signedDate: Milliseconds?
  package var digest: PayloadDigest

  package init(
    uuid: NotificationUUID, type: String, subtype: String? = nil, scope: AppScope? = nil,
    status: Int64? = nil, signedDate: Milliseconds? = nil, digest: PayloadDigest
  ) {
    self.uuid = uuid
    self.type = type
    self.subtype = subtype
    self.scope = scope
    self.status = status
    self.signedDate = signedDate
    self.digest = digest
  }
}

/// A notification with its signed payload.
package struct SignedNotification: Hashable, Sendable {
  package var record: NotificationRecord
  package var signed: SignedPayload
  /// The customer's reason for a refund request, in a CONSUMPTION_REQUEST; one of Apple's values.
  /// Stores keep it only within the payload.
  package var consumptionRequestReason: String?

  package init(
    record: NotificationRecord, signed: SignedPayload, consumptionRequestReason: String? = nil
  ) {
    self.record = record
    self.signed = signed
    self.consumptionRequestReason = consumptionRequestReason
  }
}
