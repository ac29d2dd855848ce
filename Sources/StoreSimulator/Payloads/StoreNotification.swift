package import EntitlementDomain

/// The outer payload of an App Store Server Notification (V2). The payloads inside it are signed
/// separately; the function `json` takes them as parameters.
package struct StoreNotification: Hashable, Sendable {
  /// The subject: exactly one of these members is present.
  package enum Subject: Hashable, Sendable {
    /// A purchase. A TEST notification has `data` without payloads.
    case data
    case summary(RenewalExtensionSummary)
    case externalPurchaseToken(ExternalPurchaseToken)
    /// The app itself.
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
  /// `data.status`: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked; nil for purchases
  /// that are not auto-renewable.
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

  /// The kinds of signed payloads that the subject contains.
  package var contents: NotificationForm.Contents {
    switch subject {
    case .data: [.transaction, .renewalInfo]
    case .summary, .externalPurchaseToken: []
    case .appData: .appTransaction
    }
  }

  /// The payload as signed; the same values give the same bytes. A signed payload that the subject
  /// does not contain is left out.
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

/// A token for purchases outside the App Store: `externalPurchaseToken` of a notification. Names
/// and meanings are Apple's. Only the prefix of the identifier states the environment.
package struct ExternalPurchaseToken: Hashable, Sendable {
  /// `externalPurchaseId`, without the prefix of the Sandbox.
  package var identifier: String
  package var tokenCreationDate: Milliseconds

  package init(identifier: String, tokenCreationDate: Milliseconds) {
    self.identifier = identifier
    self.tokenCreationDate = tokenCreationDate
  }

  func write(to writer: inout JSONObjectWriter, environment: StoreEnvironment?) {
    let prefix = environment == .sandbox ? "SANDBOX_" : ""
    writer.set("externalPurchaseId", prefix + identifier)
    writer.set("tokenCreationDate", tokenCreationDate.rawValue)
  }
}

/// The result of extending the renewal dates of all subscribers of a product: `summary` of a
/// notification. Names and meanings are Apple's.
package struct RenewalExtensionSummary: Hashable, Sendable {
  /// The UUID of the request.
  package var requestIdentifier: String
  package var productID: ProductID
  /// ISO 3166-1, three letters each; empty: every storefront.
  package var storefrontCountryCodes: [String]
  package var succeededCount: Int64
  package var failedCount: Int64

  package init(
    requestIdentifier: String, productID: ProductID, storefrontCountryCodes: [String] = [],
    succeededCount: Int64, failedCount: Int64
  ) {
    self.requestIdentifier = requestIdentifier
    self.productID = productID
    self.storefrontCountryCodes = storefrontCountryCodes
    self.succeededCount = succeededCount
    self.failedCount = failedCount
  }

  func write(to writer: inout JSONObjectWriter) {
    writer.set("requestIdentifier", requestIdentifier)
    writer.set("productId", productID.rawValue)
    writer.set("storefrontCountryCodes", storefrontCountryCodes)
    writer.set("succeededCount", succeededCount)
    writer.set("failedCount", failedCount)
  }
}
