/// What an App Store Server Notification (V2) says, with the signed payloads inside it still to be
/// verified.
package struct NotificationPayload: Sendable {
  /// Which of its members the notification is about.
  package enum Subject: Hashable, Sendable {
    case data
    case summary
    case externalPurchaseToken
    case appData
    /// None of those, but the one object that names an app and an environment: of a notification
    /// that is not known yet (R10). Nothing that is signed inside it is looked at.
    case unknown
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
  /// Why the customer asks for a refund, in a CONSUMPTION_REQUEST: one of Apple's words.
  package var consumptionRequestReason: String?
  package var signedTransactionInfo: [UInt8]?
  package var signedRenewalInfo: [UInt8]?
  package var signedAppTransactionInfo: [UInt8]?
}
