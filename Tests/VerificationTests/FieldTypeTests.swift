import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

/// The JSON type that Apple documents for a field.
enum FieldType: Sendable {
  case text, integer, boolean, object, texts

  /// Values of every other type, and integers that are none.
  var wrong: [String] {
    switch self {
    case .text: ["1", "1.5", "true", "false", "[]", "{}", #"["x"]"#]
    case .integer:
      [
        #""1""#, "true", "[]", "{}", "1.0", "1.5", "1e3", "1E0", "-0.0", "9223372036854775808",
        "-9223372036854775809", "1" + String(repeating: "0", count: 1_000),
      ]
    case .boolean: ["0", "1", #""true""#, "[]", "{}"]
    case .object: ["1", #""x""#, "true", "[]", "[{}]"]
    case .texts: [#""x""#, "1", "true", "{}", "[1]", "[null]", #"["x",[]]"#]
    }
  }
}

/// A field that is read, with what stands around it.
struct ReadField: Sendable, CustomTestStringConvertible {
  let payload: Payload
  /// Nil where the field is the payload's own, else the member it is in.
  let member: String?
  let name: String
  let type: FieldType

  var testDescription: String { (member.map { "\($0)." } ?? "") + name }

  func payload(with json: String?) -> Payload {
    guard let member else { return payload.with(name, json) }
    return payload.with(member, Self.inside[member]?.with(name, json).json)
  }

  private static let inside: [String: Payload] = [
    "data": .notificationData(),
    "summary": Payload(members: [
      "bundleId": #""com.example.scribe""#, "environment": #""Sandbox""#,
    ]),
    "externalPurchaseToken": Payload(members: [
      "bundleId": #""com.example.scribe""#, "externalPurchaseId": #""SANDBOX_1""#,
    ]),
    "appData": Payload(members: [
      "bundleId": #""com.example.scribe""#, "environment": #""Sandbox""#,
    ]),
    "commitmentInfo": Payload(members: [
      "billingPeriodNumber": "1", "totalBillingPeriods": "12",
    ]),
  ]

  private static func fields(
    of payload: Payload, in member: String? = nil, _ fields: KeyValuePairs<FieldType, [String]>
  ) -> [ReadField] {
    fields.flatMap { type, names in
      names.map { ReadField(payload: payload, member: member, name: $0, type: type) }
    }
  }

  static let all =
    fields(
      // The fields of an offer are read where it has a type.
      of: Payload.transaction().with("offerType", "1"),
      [
        .text: [
          "bundleId", "environment", "originalTransactionId", "transactionId", "productId", "type",
          "webOrderLineItemId", "subscriptionGroupIdentifier", "appAccountToken",
          "appTransactionId", "previousOriginalTransactionId", "inAppOwnershipType",
          "revocationType", "offerIdentifier", "offerDiscountType", "offerPeriod", "storefront",
          "transactionReason",
        ],
        .integer: [
          "purchaseDate", "originalPurchaseDate", "expiresDate", "quantity", "signedDate",
          "revocationDate", "revocationReason", "offerType",
        ],
        .boolean: ["isUpgraded"], .object: ["commitmentInfo"],
      ])
    + fields(
      of: .transaction(), in: "commitmentInfo",
      [.integer: ["billingPeriodNumber", "totalBillingPeriods", "commitmentExpiresDate"]])
    + fields(
      of: Payload.renewalInfo().with("offerType", "1"),
      [
        .text: [
          "environment", "originalTransactionId", "productId", "autoRenewProductId",
          "offerIdentifier", "offerDiscountType", "offerPeriod", "appAccountToken",
          "appTransactionId",
        ],
        .integer: [
          "autoRenewStatus", "expirationIntent", "gracePeriodExpiresDate", "priceIncreaseStatus",
          "offerType", "signedDate", "recentSubscriptionStartDate", "renewalDate",
        ],
        .boolean: ["isInBillingRetryPeriod"], .texts: ["eligibleWinBackOfferIds"],
      ])
    + fields(
      of: .appTransaction(),
      [
        .text: [
          "receiptType", "bundleId", "originalApplicationVersion", "appTransactionId",
          "originalPlatform",
        ],
        .integer: ["appAppleId", "receiptCreationDate", "originalPurchaseDate", "preorderDate"],
      ])
    + fields(
      of: .notification(data: .notificationData()),
      [
        .text: ["notificationType", "subtype", "notificationUUID", "version"],
        .integer: ["signedDate"], .object: ["data"],
      ])
    + fields(
      of: .notification(data: nil), in: "data",
      [
        .text: [
          "bundleId", "environment", "signedTransactionInfo", "signedRenewalInfo",
          "consumptionRequestReason",
        ],
        .integer: ["appAppleId", "status"],
      ])
    + fields(
      of: .notification(data: nil), in: "summary",
      [.text: ["bundleId", "environment"], .integer: ["appAppleId"]])
    + fields(
      of: .notification(data: nil), in: "externalPurchaseToken",
      [.text: ["bundleId", "externalPurchaseId"], .integer: ["appAppleId"]])
    + fields(
      of: .notification(data: nil), in: "appData",
      [
        .text: ["bundleId", "environment", "signedAppTransactionInfo"],
        .integer: ["appAppleId"],
      ])
}

@Suite("JSON types of the fields that are read")
struct FieldTypeTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  @Test(arguments: ReadField.all)
  func `a field of another type than Apple documents is malformed`(field: ReadField) throws {
    for json in field.type.wrong {
      let jws = try workshop.sign(field.payload(with: json))
      #expect(verdict(verifier, jws) == .malformed, "\(json.prefix(24))")
    }
  }

  @Test(arguments: ReadField.all)
  func `null is the same as absent`(field: ReadField) throws {
    let null = verdict(verifier, try workshop.sign(field.payload(with: "null")))
    #expect(null == verdict(verifier, try workshop.sign(field.payload(with: nil))))
  }

  @Test(arguments: [
    (
      Payload.transaction(),
      [
        "storefrontId", "currency", "price", "revocationPercentage", "billingPlanType",
        "advancedCommerceInfo", "deviceVerification", "deviceVerificationNonce", "fieldOfTheFuture",
      ]
    ),
    (
      .renewalInfo(),
      [
        "currency", "renewalPrice", "renewalBillingPlanType", "commitmentInfo",
        "advancedCommerceInfo", "fieldOfTheFuture",
      ]
    ),
    (
      .appTransaction(),
      [
        "applicationVersion", "versionExternalIdentifier", "deviceVerification",
        "deviceVerificationNonce", "fieldOfTheFuture",
      ]
    ),
  ])
  func `R10: a field that is not read may be of any type`(
    payload: Payload, fields: [String]
  ) throws {
    for field in fields {
      for json in ["null", "true", "1.5e300", "[]", "{}", #""text""#, "7"] {
        let jws = try workshop.sign(payload.with(field, json))
        #expect(verdict(verifier, jws) == .ok, "\(field) \(json)")
      }
    }
  }
}
