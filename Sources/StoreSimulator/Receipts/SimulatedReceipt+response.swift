import Cryptography
import EntitlementDomain

// Archived responses of Apple's `verifyReceipt`. Names and types are Apple's: numbers and booleans
// are strings, and each date has three forms.
extension SimulatedReceipt {
  /// The response in JSON; the same values give the same bytes.
  ///
  /// - Parameter latestReceipt: `latest_receipt`, in DER; nil leaves it out.
  package func archivedResponse(latestReceipt: [UInt8]? = nil) -> [UInt8] {
    var receipt = JSONObjectWriter()
    receipt.set("receipt_type", receiptType)
    receipt.set("adam_id", isForSale ? SimulatedApp.appAppleID : 0)
    receipt.set("app_item_id", isForSale ? SimulatedApp.appAppleID : 0)
    receipt.set("bundle_id", bundleID.rawValue)
    receipt.set("application_version", applicationVersion)
    receipt.set("receipt_creation_date", date: creationDate)
    receipt.set("request_date", date: requestDate ?? creationDate)
    receipt.set("original_purchase_date", date: originalPurchaseDate)
    receipt.set("original_application_version", originalApplicationVersion)
    receipt.set("expiration_date", date: expirationDate)
    receipt.set("in_app", objects: items.map { $0.json(isLatest: false) })

    var writer = JSONObjectWriter()
    writer.set("status", 0)
    writer.set("environment", isForSale ? "Production" : "Sandbox")
    writer.set("receipt", receipt)
    // `latest_receipt_info` has subscriptions only, the latest first.
    let latest = (items + newerItems).filter { $0.expiresDate != nil }.reversed()
    if !latest.isEmpty {
      writer.set("latest_receipt_info", objects: latest.map { $0.json(isLatest: true) })
    }
    writer.set(
      "latest_receipt",
      latestReceipt.map { String(decoding: Base64Form.standard.encode($0), as: UTF8.self) })
    if !renewals.isEmpty {
      writer.set("pending_renewal_info", objects: renewals.map(\.responseJSON))
    }
    return writer.bytes
  }

  private var isForSale: Bool { receiptType == "Production" || receiptType == "ProductionVPP" }
}

extension SimulatedReceiptItem {
  /// - Parameter isLatest: whether it is in `latest_receipt_info`, which has more fields than
  ///   `in_app`.
  fileprivate func json(isLatest: Bool) -> JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("quantity", quantity.map { String($0) })
    writer.set("product_id", productID?.rawValue)
    writer.set("transaction_id", transactionID?.rawValue)
    writer.set("original_transaction_id", originalTransactionID?.rawValue)
    writer.set("purchase_date", date: purchaseDate)
    writer.set("original_purchase_date", date: originalPurchaseDate)
    writer.set("expires_date", date: expiresDate)
    writer.set("web_order_line_item_id", webOrderLineItemID?.rawValue)
    writer.set("is_trial_period", String(isTrialPeriod))
    if expiresDate != nil {
      writer.set("is_in_intro_offer_period", String(isInIntroductoryOfferPeriod))
    }
    writer.set("cancellation_date", date: cancellationDate)
    writer.set("cancellation_reason", response.cancellationReason.map { String($0.rawValue) })
    writer.set("in_app_ownership_type", response.ownership?.rawValue)
    guard isLatest else { return writer }
    writer.set("is_upgraded", response.isUpgraded ? "true" : nil)
    writer.set("subscription_group_identifier", response.subscriptionGroupID?.rawValue)
    writer.set("app_account_token", response.appAccountToken?.rawValue)
    writer.set(nameOf: response.offer)
    return writer
  }
}

extension RenewalInfoPayload {
  /// An entry of `pending_renewal_info`.
  fileprivate var responseJSON: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("auto_renew_product_id", autoRenewProductID?.rawValue)
    writer.set("product_id", productID?.rawValue)
    writer.set("original_transaction_id", originalTransactionID.rawValue)
    writer.set("auto_renew_status", autoRenews.map { $0 ? "1" : "0" })
    writer.set("expiration_intent", expirationIntent.map { String($0.rawValue) })
    writer.set("is_in_billing_retry_period", isInBillingRetryPeriod.map { $0 ? "1" : "0" })
    writer.set("grace_period_expires_date", date: gracePeriodExpiresDate)
    // Apple sends it under both names: 0 is pending, 1 is accepted.
    let consent = priceIncreaseStatus.map { String($0.rawValue) }
    writer.set("price_consent_status", consent)
    writer.set("price_increase_status", consent)
    writer.set(nameOf: renewalOffer)
    return writer
  }
}

extension JSONObjectWriter {
  /// A date in Apple's three forms: `2013-08-01 07:00:00 Etc/GMT`, `…_ms` as text, and `…_pst` in
  /// Pacific time. A nil date leaves them out.
  fileprivate mutating func set(_ name: String, date: Milliseconds?) {
    guard let date else { return }
    set(name, "\(date.blankSeparated) Etc/GMT")
    set("\(name)_ms", String(date.rawValue))
    set("\(name)_pst", "\(PacificTime.clock(at: date).blankSeparated) America/Los_Angeles")
  }

  fileprivate mutating func set(nameOf offer: Offer?) {
    switch offer?.type {
    case .promotional?: set("promotional_offer_id", offer?.identifier)
    case .offerCode?: set("offer_code_ref_name", offer?.identifier)
    default: break
    }
  }
}

extension Milliseconds {
  /// `2013-08-01 07:00:00`.
  fileprivate var blankSeparated: String {
    rfc3339.replacing("T", with: " ").replacing("Z", with: "")
  }
}

/// Local time in Los Angeles, by the rule since 2007: daylight saving time is from 2:00 on the
/// second Sunday of March to 2:00 on the first Sunday of November. Times before 2007 occur only as
/// the purchase date of an app.
enum PacificTime {
  /// The local time at `moment`: milliseconds whose UTC form shows the local clock.
  static func clock(at moment: Milliseconds) -> Milliseconds {
    moment.adding(hours: isSummer(at: moment) ? -7 : -8)
  }

  private static func isSummer(at moment: Milliseconds) -> Bool {
    let parts = moment.rfc3339.split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
    // RFC 3339 has year, month, day, hour, minute and second in all years of the simulated clock.
    guard parts.count == 6 else { return false }
    let (month, day, hour) = (parts[1], parts[2], parts[3])
    switch month {
    case 4...10:
      return true
    case 3:
      // 2:00 standard time is 10:00 UTC.
      return (day, hour) >= (firstSunday(of: moment, day: day) + 7, 10)
    case 11:
      // 2:00 daylight saving time is 9:00 UTC.
      return (day, hour) < (firstSunday(of: moment, day: day), 9)
    default:
      return false
    }
  }

  /// - Parameter day: the day of the month of `moment`.
  /// - Returns: the day of that month, 1 to 7.
  private static func firstSunday(of moment: Milliseconds, day: Int64) -> Int64 {
    // 1970-01-01 was a Thursday; Sundays count as 0.
    let days = SimulatedCalendar.floorDay(moment).rawValue / Milliseconds.dayLength
    let weekdayOfFirst = ((days + 4 - (day - 1)) % 7 + 7) % 7
    return 1 + (7 - weekdayOfFirst) % 7
  }
}
