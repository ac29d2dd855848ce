import AppStorePayloads
package import EntitlementDomain

// What the API answers about transactions. A field is required if nothing can be done without it.
// Signed payloads are not verified.

/// A page of a customer's transactions, with at most 20 of them.
package struct HistoryPage: Hashable, AppStorePage {
  /// JWS. A transaction that changes while pages are read comes again.
  package let signedTransactions: [String]
  /// The position after this page. Of the ascending order, it may be stored: later it leads to new
  /// and changed transactions only.
  package let revision: String
  package let hasMore: Bool
  package let bundleID: BundleID?
  package let appAppleID: Int64?
  /// Apple's name, known or unknown (R10).
  package let environment: String?

  package var next: String? { hasMore ? revision : nil }

  init(_ fields: PayloadFields) throws(PayloadError) {
    signedTransactions = try fields.required(
      "signedTransactions", try fields.jws("signedTransactions"))
    revision = try fields.requiredIdentifier("revision")
    hasMore = try fields.required("hasMore", try fields.boolean("hasMore"))
    bundleID = try fields.identifier("bundleId").map(BundleID.init(_:))
    appAppleID = try fields.integer("appAppleId")
    environment = try fields.text("environment")
  }
}

/// A page of a customer's refunds, with at most 20 of them, in the order of their dates.
package struct RefundPage: Hashable, AppStorePage {
  /// JWS of refunded or revoked transactions.
  package let signedTransactions: [String]
  /// The position after this page. It may be stored.
  package let revision: String
  package let hasMore: Bool

  package var next: String? { hasMore ? revision : nil }

  init(_ fields: PayloadFields) throws(PayloadError) {
    signedTransactions = try fields.required(
      "signedTransactions", try fields.jws("signedTransactions"))
    revision = try fields.requiredIdentifier("revision")
    hasMore = try fields.required("hasMore", try fields.boolean("hasMore"))
  }
}

/// What the App Store knows of an order id from a customer's receipt.
package struct OrderLookup: Hashable, Sendable {
  /// Apple's number, known or unknown (R10): 0 is valid, 1 is not.
  package let status: Int64
  /// JWS of the order; empty unless it is valid.
  package let signedTransactions: [String]

  /// Whether the order is one of this app.
  package var isValid: Bool { status == 0 }

  init(_ fields: PayloadFields) throws(PayloadError) {
    status = try fields.required("status", try fields.integer("status"))
    let transactions = try fields.jws("signedTransactions")
    signedTransactions =
      status == 0 ? try fields.required("signedTransactions", transactions) : transactions ?? []
  }
}

extension PayloadFields {
  /// - Throws: ``PayloadError/Code/missingField`` for nil.
  func required<Value>(_ name: StaticString, _ value: Value?) throws(PayloadError) -> Value {
    guard let value else { throw PayloadError(.missingField, "\(name) is missing") }
    return value
  }

  /// The signed payloads of an array; nil when it is absent.
  func jws(_ name: StaticString) throws(PayloadError) -> [String]? {
    let payloads = try texts(name)
    guard payloads?.contains("") != true else {
      throw PayloadError(.missingField, "\(name) contains an empty element")
    }
    return payloads
  }
}
