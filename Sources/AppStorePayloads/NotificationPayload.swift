package import EntitlementDomain

/// The decoded content of an App Store Server Notification (V2). The signed payloads inside it are
/// not verified yet.
package struct NotificationPayload: Sendable {
  /// The raw `notificationType`, known or unknown (R10).
  package var type: String
  package var subtype: String?
  package var uuid: NotificationUUID
  package var version: String?
  package var signedDate: Milliseconds?
  package var subject: NotificationSubject
  package var bundleID: BundleID?
  package var appAppleID: Int64?
  /// The raw environment. For an external purchase token it is derived from the prefix of its id.
  package var environment: String?
  /// The subscription's status in Apple's view at the time of signing (R47).
  package var status: Int64?
  /// The customer's reason for a refund request, in a CONSUMPTION_REQUEST; one of Apple's values.
  package var consumptionRequestReason: String?
  package var signedTransactionInfo: [UInt8]?
  package var signedRenewalInfo: [UInt8]?
  package var signedAppTransactionInfo: [UInt8]?
}

extension PayloadDecoder {
  /// Decodes a `responseBodyV2DecodedPayload`.
  ///
  /// - Throws: ``PayloadError``. The code is ``PayloadError/Code/ambiguousContent`` unless exactly
  ///   one member is a ``NotificationSubject``; without one, the notification names no app (R8).
  package static func notification(
    _ fields: PayloadFields
  ) throws(PayloadError) -> NotificationPayload {
    let (subject, content) = try notificationContent(fields)
    var payload = NotificationPayload(
      type: try fields.requiredIdentifier("notificationType"),
      subtype: try fields.identifier("subtype"),
      uuid: NotificationUUID(try fields.requiredIdentifier("notificationUUID")),
      version: try fields.identifier("version"),
      signedDate: try fields.moment("signedDate"),
      subject: subject,
      bundleID: try content.identifier("bundleId").map(BundleID.init(_:)),
      appAppleID: try content.integer("appAppleId"))
    switch subject {
    case .data:
      payload.environment = try content.identifier("environment")
      payload.status = try content.integer("status")
      payload.consumptionRequestReason = try content.identifier("consumptionRequestReason")
      payload.signedTransactionInfo = try content.content("signedTransactionInfo")
      payload.signedRenewalInfo = try content.content("signedRenewalInfo")
    case .summary, .unknown:
      payload.environment = try content.identifier("environment")
    case .externalPurchaseToken:
      payload.environment = try content.identifier("externalPurchaseId").map { identifier in
        let environment: StoreEnvironment =
          identifier.hasPrefix("SANDBOX") ? .sandbox : .production
        return environment.rawValue
      }
    case .appData:
      payload.environment = try content.identifier("environment")
      payload.signedAppTransactionInfo = try content.content("signedAppTransactionInfo")
    }
    return payload
  }

  private static func notificationContent(
    _ fields: PayloadFields
  ) throws(PayloadError) -> (NotificationSubject, PayloadFields) {
    var found: [(NotificationSubject, PayloadFields)] = []
    if let content = try fields.object("data") { found.append((.data, content)) }
    if let content = try fields.object("summary") { found.append((.summary, content)) }
    if let content = try fields.object("externalPurchaseToken") {
      found.append((.externalPurchaseToken, content))
    }
    if let content = try fields.object("appData") { found.append((.appData, content)) }
    if found.isEmpty {
      found = fields.objects()
        .filter { $0.contains("bundleId") && $0.contains("environment") }
        .map { (.unknown, $0) }
    }
    guard found.count == 1, let content = found.first else {
      throw PayloadError(
        .ambiguousContent,
        "one of data, summary, externalPurchaseToken, appData or another object with an app and "
          + "an environment must be present, not \(found.count)")
    }
    return content
  }
}
