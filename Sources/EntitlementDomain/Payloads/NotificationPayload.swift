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

extension PayloadDecoder {
  /// `responseBodyV2DecodedPayload`.
  ///
  /// - Throws: ``PayloadError``, among them ``PayloadError/Code/ambiguousContent`` unless exactly
  ///   one member is a ``NotificationPayload/Subject``: without any, nothing says which app it is
  ///   for (R8).
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
  ) throws(PayloadError) -> (NotificationPayload.Subject, PayloadFields) {
    var found: [(NotificationPayload.Subject, PayloadFields)] = []
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
