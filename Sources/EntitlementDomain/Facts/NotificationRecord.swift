/// A verified App Store Server Notification (V2), kept for audit and to recognise repeats by its
/// UUID. Its type never decides access: the facts inside it do (R2).
///
/// It has what is asked for by itself. The rest is read from the payload that is kept with it, so
/// that a record read back from a store says all that it said when it came.
package struct NotificationRecord: Hashable, Sendable {
  package var uuid: NotificationUUID
  /// `notificationType` as it came, known or not (R10).
  package var type: String
  package var subtype: String?
  /// The app and environment it names; nil where it names none.
  package var scope: AppScope?
  /// Apple's own view of the subscription when it signed (`data.status`, R47).
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
