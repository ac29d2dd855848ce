/// Words that libFuzzer inserts into inputs.
package struct FuzzDictionary: Sendable {
  private let words: [[UInt8]]

  init(texts: [String], bytes: [[UInt8]] = []) {
    words = texts.map { Array($0.utf8) } + bytes
  }

  /// In the format of libFuzzer: one quoted word a line.
  package var file: String {
    words.map { "\"\(Self.escaped($0))\"\n" }.joined()
  }

  private static func escaped(_ word: [UInt8]) -> String {
    word.map { byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case 0x20..<0x7F: String(UnicodeScalar(byte))
      default: "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
      }
    }.joined()
  }
}

extension FuzzDictionary {
  /// Names of Apple's fields, and values that select branches.
  static let json =
    [
      "transactionId", "originalTransactionId", "productId", "bundleId", "appAppleId", "type",
      "environment", "purchaseDate", "originalPurchaseDate", "expiresDate", "signedDate",
      "revocationDate", "revocationReason", "revocationType", "quantity", "webOrderLineItemId",
      "subscriptionGroupIdentifier", "appAccountToken", "appTransactionId",
      "previousOriginalTransactionId", "inAppOwnershipType", "isUpgraded", "offerType",
      "offerIdentifier", "offerDiscountType", "offerPeriod", "storefront", "transactionReason",
      "commitmentInfo", "billingPeriodNumber", "totalBillingPeriods", "commitmentExpiresDate",
      "autoRenewStatus", "autoRenewProductId", "expirationIntent", "gracePeriodExpiresDate",
      "isInBillingRetryPeriod", "priceIncreaseStatus", "renewalDate", "renewalPrice",
      "recentSubscriptionStartDate", "eligibleWinBackOfferIds", "receiptType",
      "receiptCreationDate", "originalApplicationVersion", "originalPlatform", "preorderDate",
      "notificationType", "notificationUUID", "subtype", "version", "data", "summary", "appData",
      "externalPurchaseToken", "externalPurchaseId", "status", "consumptionRequestReason",
      "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
    ].map { "\"\($0)\":" }
    + [
      "\"Production\"", "\"Sandbox\"", "\"Xcode\"", "\"LocalTesting\"", "\"com.example.scribe\"",
      "SANDBOX", "1234567890", "-9223372036854775808", "9223372036854775808", "1e3", "-0", "0.0",
      "null", "true", "false", "[]", "{}", "\\u0000", "\\ud83d\\ude00", "\\ud83d", "\\\"",
      "\n", "$1", "$2", "$3",
    ]

  static let header = [
    "\"alg\":\"ES256\"", "\"alg\":\"none\"", "\"x5c\":[", "\"crit\":[", "\"kid\":", "\"typ\":",
    "eyJhbGciOiJFUzI1NiIs", ".", "..", "=", "-_",
  ]

  static let archive = [
    "\"receipt\":", "\"in_app\":[", "\"latest_receipt_info\":[", "\"pending_renewal_info\":[",
    "\"receipt_type\":", "\"bundle_id\":", "\"receipt_creation_date_ms\":",
    "\"request_date_ms\":", "\"original_purchase_date_ms\":", "\"purchase_date_ms\":",
    "\"expires_date_ms\":", "\"cancellation_date_ms\":", "\"cancellation_reason\":",
    "\"transaction_id\":", "\"original_transaction_id\":", "\"product_id\":", "\"quantity\":",
    "\"web_order_line_item_id\":", "\"is_trial_period\":", "\"is_in_intro_offer_period\":",
    "\"auto_renew_status\":", "\"auto_renew_product_id\":", "\"expiration_intent\":",
    "\"grace_period_expires_date_ms\":", "\"is_in_billing_retry_period\":", "\"environment\":",
    "\"status\":0", "\"original_application_version\":", "\"application_version\":",
    "\"ProductionSandbox\"", "\"ProductionVPP\"", "2024-01-01T00:00:00Z",
  ]

  /// Tags with lengths of each form, attribute numbers, and the object identifiers of CMS.
  static let receipt: [[UInt8]] = [
    [0x30, 0x80], [0x30, 0x82], [0x31, 0x80], [0x31, 0x82], [0x24, 0x80], [0x04, 0x80],
    [0x00, 0x00], [0xA0, 0x80], [0xA0, 0x82], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
    [0x04, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x02, 0x01, 0x00],
    [0x02, 0x08, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x0C, 0x00], [0x16, 0x00], [0x05, 0x00],
    [0x02, 0x01, 0x02], [0x02, 0x01, 0x03], [0x02, 0x01, 0x04], [0x02, 0x01, 0x05],
    [0x02, 0x01, 0x0C], [0x02, 0x01, 0x11], [0x02, 0x01, 0x12], [0x02, 0x01, 0x13],
    [0x02, 0x01, 0x15], [0x02, 0x02, 0x06, 0xA5], [0x02, 0x02, 0x06, 0xA6],
    [0x02, 0x02, 0x06, 0xA7], [0x02, 0x02, 0x06, 0xA8], [0x02, 0x02, 0x06, 0xA9],
    [0x02, 0x02, 0x06, 0xAA], [0x02, 0x02, 0x06, 0xAC], [0x02, 0x02, 0x06, 0xAF],
    [0x02, 0x02, 0x06, 0xB0], [0x02, 0x02, 0x06, 0xB1], [0x02, 0x02, 0x06, 0xB7],
    // signedData, data, SHA-1, SHA-256, rsaEncryption, sha256WithRSAEncryption.
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02],
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01],
    [0x06, 0x05, 0x2B, 0x0E, 0x03, 0x02, 0x1A],
    [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01],
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01],
    [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B],
  ]

  static let names = [
    "grpc.health.v1.Health", "Check", "Watch", "entitle.v1.SubmissionService",
    "SubmitSignedTransactions", "type.googleapis.com/google.rpc.ErrorInfo",
    "type.googleapis.com/google.rpc.RetryInfo", "type.googleapis.com/google.rpc.BadRequest",
  ]

  /// Stream ids with types and flags, lengths at the limits, and tags of envelopes.
  static let frames: [[UInt8]] = [
    [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 3, 1, 2], [0, 0, 0, 1, 2, 0],
    [0, 0, 0, 1, 3, 0x10], [0, 0, 0, 3, 3, 5], [0, 0, 0, 7, 2, 0], [0, 0, 0, 0, 0, 0],
    [0, 0x40, 0, 0], [0, 0x40, 0, 1], [0, 0xFF, 0xFF, 0xFF], [1, 0, 0, 0],
    [0x0A], [0x12], [0x1A], [0x20], [0x2A],
    [0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
    [0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
  ]

  static let values = [
    "com.example.scribe", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "2000000000000001", "pro",
    "after:", "DID_RENEW", "9f86d081", "é",
  ]

  /// Names of fields, and forms of values that select branches.
  static let messageJSON =
    [
      "bundleId", "bundle_id", "environment", "accountId", "customer", "consistency", "atMs",
      "signedPayloads", "receipt", "state", "standing", "results", "events", "target", "grant",
    ].map { "\"\($0)\":" }
    + [
      "\"STORE_ENVIRONMENT_SANDBOX\"", "\"LINK_REASON_CLAIMED\"", "\"-9223372036854775808\"", "1e3",
      "1.0", "2147483648", "\"AQI=\"", "\"-_\"", "null", "true", "[]", "{}", "\\u0000",
      "\\ud83d\\ude00",
    ]

  /// Tags of the first fields, numbers at the limits, and wrong lengths.
  static let fields: [[UInt8]] = [
    [0x08], [0x0A], [0x10], [0x12], [0x18], [0x1A], [0x20], [0x22], [0x28], [0x2A], [0x30],
    [0x32], [0x38], [0x3A], [0x40], [0x42], [0x48], [0x4A], [0x0A, 0x00], [0x12, 0x00],
    [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0x80, 0x80, 0x80, 0x80, 0x08],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0xF8, 0xFF, 0xFF, 0xFF, 0x0F],
  ]
}
