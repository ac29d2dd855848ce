package import EntitlementDomain

/// The outer part of an App Store Server Notification (V2). The payloads inside it are signed on
/// their own and handed in when it is written.
package struct StoreNotification: Hashable, Sendable {
  /// What it is about: exactly one of these members is present.
  package enum Subject: Hashable, Sendable {
    /// A purchase, or nothing at all (TEST).
    case data
    case summary(RenewalExtensionSummary)
    case externalPurchaseToken(ExternalPurchaseToken)
    /// The app as such.
    case appData
  }

  /// `notificationType`.
  package var type: String
  package var subtype: String?
  package var uuid: NotificationUUID
  package var signedDate: Milliseconds
  /// Nil leaves the field out.
  package var environment: StoreEnvironment?
  package var appAppleID: Int64?
  package var bundleID: BundleID
  package var bundleVersion: String?
  package var subject: Subject = .data
  /// `data.status`: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; nil for purchases that
  /// are not auto-renewable.
  package var status: Int64?
  /// `data.consumptionRequestReason`, of a CONSUMPTION_REQUEST.
  package var consumptionRequestReason: String?

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

  /// The signed payloads for which its subject has room.
  package var contents: NotificationForm.Contents {
    switch subject {
    case .data: [.transaction, .renewalInfo]
    case .summary, .externalPurchaseToken: []
    case .appData: .appTransaction
    }
  }

  /// The payload as signed; the same values give the same bytes. A signed payload for which the
  /// subject has no room is left out.
  ///
  /// - Parameters:
  ///   - signedTransaction: `signedTransactionInfo`, a compact JWS.
  ///   - signedRenewalInfo: `signedRenewalInfo`, a compact JWS.
  ///   - signedAppTransaction: `signedAppTransactionInfo`, a compact JWS.
  package func json(
    signedTransaction: String?, signedRenewalInfo: String?, signedAppTransaction: String? = nil
  ) -> [UInt8] {
    var content = JSONObjectWriter()
    content.set("appAppleId", appAppleID)
    content.set("bundleId", bundleID.rawValue)
    var writer = JSONObjectWriter()
    writer.set("notificationType", type)
    writer.set("subtype", subtype)
    writer.set("notificationUUID", uuid.rawValue)
    switch subject {
    case .data:
      content.set("bundleVersion", bundleVersion)
      content.set("environment", environment?.rawValue)
      content.set("signedTransactionInfo", signedTransaction)
      content.set("signedRenewalInfo", signedRenewalInfo)
      content.set("status", status)
      content.set("consumptionRequestReason", consumptionRequestReason)
      writer.set("data", content)
    case .summary(let summary):
      content.set("environment", environment?.rawValue)
      summary.write(to: &content)
      writer.set("summary", content)
    case .externalPurchaseToken(let token):
      token.write(to: &content, environment: environment)
      writer.set("externalPurchaseToken", content)
    case .appData:
      content.set("environment", environment?.rawValue)
      content.set("signedAppTransactionInfo", signedAppTransaction)
      writer.set("appData", content)
    }
    writer.set("version", "2.0")
    writer.set("signedDate", signedDate.rawValue)
    return writer.bytes
  }
}
