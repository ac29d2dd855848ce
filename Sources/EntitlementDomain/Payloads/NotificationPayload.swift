/// What an App Store Server Notification (V2) says, with the signed payloads inside it still to be
/// verified.
package struct NotificationPayload: Sendable {
  /// Which of the four the notification is about.
  package enum Subject: String, Hashable, Sendable, CaseIterable {
    case data
    case summary
    case externalPurchaseToken
    case appData
  }

  /// `notificationType` as it came, known or not (R10).
  package var type: String
  package var subtype: String?
  package var uuid: NotificationUUID
  package var version: String?
  package var signedDate: Milliseconds?
  package var subject: Subject
  package var bundleID: BundleID?
  package var appAppleID: Int64?
  /// The environment it names, as it came. An external purchase token names one by its prefix.
  package var environment: String?
  /// Apple's own view of the subscription when it signed (R47).
  package var status: Int64?
  package var signedTransactionInfo: [UInt8]?
  package var signedRenewalInfo: [UInt8]?
  package var signedAppTransactionInfo: [UInt8]?
}
