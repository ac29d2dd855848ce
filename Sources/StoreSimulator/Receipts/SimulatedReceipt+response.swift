import Cryptography
import EntitlementDomain

// The answer of Apple's `verifyReceipt`, which its users keep in archives. Names and forms are
// Apple's: numbers and booleans are texts, and each date comes in three forms.
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
    // Only subscriptions are listed with what came later, the latest first.
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
  /// - Parameter isLatest: whether it is in `latest_receipt_info`, which tells more than `in_app`.
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
    // Apple tells it under both names: 0 asked, 1 consented.
    let consent = priceIncreaseStatus.map { String($0.rawValue) }
    writer.set("price_consent_status", consent)
    writer.set("price_increase_status", consent)
    writer.set(nameOf: renewalOffer)
    return writer
  }
}

extension JSONObjectWriter {
  /// A date in Apple's three forms: `2013-08-01 07:00:00 Etc/GMT`, `…_ms` as text, and `…_pst` by the
  /// clock of Los Angeles. A nil date leaves them out.
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
