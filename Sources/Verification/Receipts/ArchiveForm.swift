import AppStorePayloads
import EntitlementDomain

/// The parts of an archived response, in each of the forms in which responses were stored:
///
/// - since iOS 7: `receipt` is the app's, with its purchases in `in_app`;
/// - in the style of iOS 6: `receipt` is one transaction, and names the app in `bid`;
/// - `unified_receipt` of a notification of version 1, with the notification around it or alone: it has no
///   `receipt`.
struct ArchiveForm {
  /// The response alone, which proves its facts. A notification also has the app's shared secret, which
  /// must not be stored.
  let json: [UInt8]
  let response: PayloadFields
  /// Nil in a `unified_receipt`.
  let receipt: PayloadFields?
  /// The notification around a `unified_receipt`.
  let notification: PayloadFields?
  /// Whether Apple answered that the subscription has expired.
  let isExpired: Bool

  /// For receipts in the style of iOS 6: valid, but the subscription has expired.
  private static let expired: Int64 = 21_006

  /// - Throws: ``PayloadError``, also when Apple did not find the receipt valid.
  init(_ json: [UInt8]) throws(PayloadError) {
    let whole = try PayloadFields(json: json, lengthLimit: VerificationLimits.archiveLength)
    if whole.contains("notification_type") || whole.contains("unified_receipt") {
      guard let unified = try whole.object("unified_receipt") else {
        throw PayloadError(
          .missingField, "unified_receipt is missing from the version 1 notification")
      }
      (notification, response, self.json) = (whole, unified, unified.json)
    } else {
      (notification, response, self.json) = (nil, whole, json)
    }
    guard let status = try response.archivedInteger("status") else {
      throw PayloadError(.missingField, "status is missing")
    }
    isExpired = status == Self.expired
    guard status == 0 || isExpired else {
      throw PayloadError(
        .missingField,
        "status is neither 0 nor \(Self.expired) (valid, the subscription has expired): Apple did "
          + "not find the receipt valid")
    }
    receipt = try response.object("receipt")
    guard receipt != nil || response.contains("latest_receipt_info") else {
      throw PayloadError(.missingField, "receipt is missing")
    }
  }

  /// The members of all purchases, those of the receipt first.
  func purchases() throws(PayloadError) -> [PayloadFields] {
    guard let receipt else { return try response.objectOrObjects("latest_receipt_info") }
    guard receipt.isTransaction else {
      return try (receipt.objects("in_app") ?? []) + (response.objects("latest_receipt_info") ?? [])
    }
    // The latest transaction is an object, in a member of its own once it has expired.
    return try [receipt] + response.objectOrObjects("latest_expired_receipt_info")
      + response.objectOrObjects("latest_receipt_info")
  }

  /// The elements of `pending_renewal_info`, each with what names its chain and product. In the style of
  /// iOS 6 the response itself has the members of one, about the chain of its transaction.
  func renewals() throws(PayloadError) -> [(fields: PayloadFields, chain: PayloadFields)] {
    guard let receipt, receipt.isTransaction else {
      return try (response.objects("pending_renewal_info") ?? []).map { ($0, $0) }
    }
    return response.contains("auto_renew_status") ? [(response, receipt)] : []
  }

  /// The app; nil if none is named, as in a `unified_receipt` alone.
  func bundleID() throws(PayloadError) -> BundleID? {
    guard let receipt else { return try notification?.identifier("bid").map(BundleID.init(_:)) }
    return BundleID(try receipt.requiredIdentifier(receipt.isTransaction ? "bid" : "bundle_id"))
  }

  /// The name of the environment besides `receipt_type`; nil if there is none.
  func environmentName() throws(PayloadError) -> String? {
    let own = try response.identifier("environment")
    guard var outer = try notification?.identifier("environment") else { return own }
    if outer == "PROD" { outer = StoreEnvironment.production.rawValue }
    guard own == nil || own == outer else {
      throw PayloadError(.contradiction, "environment is not that of unified_receipt")
    }
    return outer
  }

  /// The version of the app, where there is no receipt of the app.
  func transactionVersion() throws(PayloadError) -> String? {
    try (receipt ?? notification)?.archivedIdentifier("bvrs")
  }
}
