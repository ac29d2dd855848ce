/// A response of `verifyReceipt` as raw JSON members, so that tests can spell values as they like.
struct ResponseText {
  struct Members {
    var members: [String: String] = [:]

    /// Replaces a member; nil removes it.
    func with(_ name: String, _ json: String?) -> Members {
      var copy = self
      copy.members[name] = json
      return copy
    }
  }

  var status = "0"
  var environment: String? = #""Sandbox""#
  var receipt = [
    "receipt_type": #""ProductionSandbox""#, "adam_id": "0", "bundle_id": #""com.example.scribe""#,
    "application_version": #""42""#, "original_application_version": #""1.0""#,
    "receipt_creation_date": #""2024-01-01 00:00:00 Etc/GMT""#,
    "receipt_creation_date_ms": #""1704067200000""#, "request_date_ms": #""1710000000123""#,
    "original_purchase_date_ms": #""1375340400000""#,
  ]
  var inApp = [
    Members(members: [
      "quantity": #""1""#, "product_id": #""com.example.scribe.pro.monthly""#,
      "transaction_id": #""2000000123456790""#,
      "original_transaction_id": #""2000000123456789""#,
      "purchase_date": #""2023-12-31 05:20:00 Etc/GMT""#,
      "purchase_date_ms": #""1704000000000""#, "original_purchase_date_ms": #""1704000000000""#,
      "expires_date_ms": #""1706678400000""#, "web_order_line_item_id": #""1000000012""#,
      "is_trial_period": #""true""#, "is_in_intro_offer_period": #""false""#,
    ])
  ]
  var latest = [
    Members(members: [
      "quantity": #""1""#, "product_id": #""com.example.scribe.pro.monthly""#,
      "transaction_id": #""2000000123456791""#,
      "original_transaction_id": #""2000000123456789""#,
      "purchase_date_ms": #""1706678400000""#, "original_purchase_date_ms": #""1704000000000""#,
      "expires_date_ms": #""1709184000000""#, "web_order_line_item_id": #""1000000013""#,
      "is_trial_period": #""false""#, "in_app_ownership_type": #""FAMILY_SHARED""#,
      "subscription_group_identifier": #""21000001""#,
      "app_account_token": #""7E3FB204-2D54-4C6A-9F1E-0D6A3C2B1A00""#,
      "cancellation_date_ms": #""1707000000000""#, "cancellation_reason": #""1""#,
      "promotional_offer_id": #""spring""#,
    ])
  ]
  var pending = [
    Members(members: [
      "original_transaction_id": #""2000000123456789""#,
      "product_id": #""com.example.scribe.pro.monthly""#,
      "auto_renew_product_id": #""com.example.scribe.pro.yearly""#,
      "auto_renew_status": #""0""#, "expiration_intent": #""2""#,
      "is_in_billing_retry_period": #""1""#,
      "grace_period_expires_date_ms": #""1711000000000""#, "price_consent_status": #""0""#,
    ])
  ]
  /// Leaves the three lists out.
  var omitsLists = false
  /// More members of the whole, each with a leading comma.
  var more = ""

  var bytes: [UInt8] {
    var receipt = receipt
    if !omitsLists { receipt["in_app"] = Self.list(inApp) }
    var whole = ["status": status, "receipt": Self.object(receipt)]
    whole["environment"] = environment
    if !omitsLists {
      whole["latest_receipt_info"] = Self.list(latest)
      whole["pending_renewal_info"] = Self.list(pending)
    }
    return Array((Self.object(whole).dropLast() + more + "}").utf8)
  }

  private static func list(_ elements: [Members]) -> String {
    "[" + elements.map { object($0.members) }.joined(separator: ",") + "]"
  }

  private static func object(_ members: [String: String]) -> String {
    "{"
      + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
      .joined(separator: ",") + "}"
  }
}
