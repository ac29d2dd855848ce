package import EntitlementDomain

/// The outer part of an App Store Server Notification (V2) about a purchase. The payloads inside it
/// are signed on their own and handed in when it is written.
package struct StoreNotification: Hashable, Sendable {
  /// `notificationType`.
  package var type: String
  package var subtype: String?
  package var uuid: NotificationUUID
  package var signedDate: Milliseconds
  package var environment: StoreEnvironment?
  package var appAppleID: Int64?
  package var bundleID: BundleID
  package var bundleVersion: String?
  /// `data.status`: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; nil for purchases that
  /// are not auto-renewable.
  package var status: Int64?

  package init(
    type: String, subtype: String?, uuid: NotificationUUID, signedDate: Milliseconds,
    environment: StoreEnvironment?, appAppleID: Int64?, bundleID: BundleID, status: Int64?
  ) {
    self.type = type
    self.subtype = subtype
    self.uuid = uuid
    self.signedDate = signedDate
    self.environment = environment
    self.appAppleID = appAppleID
    self.bundleID = bundleID
    self.status = status
  }

  /// The payload as signed; the same values give the same bytes.
  ///
  /// - Parameters:
  ///   - signedTransaction: `signedTransactionInfo`, a compact JWS.
  ///   - signedRenewalInfo: `signedRenewalInfo`, a compact JWS.
  package func json(signedTransaction: String?, signedRenewalInfo: String?) -> [UInt8] {
    var data = JSONObjectWriter()
    data.set("appAppleId", appAppleID)
    data.set("bundleId", bundleID.rawValue)
    data.set("bundleVersion", bundleVersion)
    data.set("environment", environment?.rawValue)
    data.set("signedTransactionInfo", signedTransaction)
    data.set("signedRenewalInfo", signedRenewalInfo)
    data.set("status", status)
    var writer = JSONObjectWriter()
    writer.set("notificationType", type)
    writer.set("subtype", subtype)
    writer.set("notificationUUID", uuid.rawValue)
    writer.set("data", data)
    writer.set("version", "2.0")
    writer.set("signedDate", signedDate.rawValue)
    return writer.bytes
  }
}
