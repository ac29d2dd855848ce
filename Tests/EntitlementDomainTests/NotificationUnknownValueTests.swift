import AppStorePayloads
import EntitlementDomain
import Testing

@Suite("R10: values that are not known are kept, named and counted (case 26)")
struct NotificationUnknownValueTests {
  private func fields(_ values: [UnknownValue]) -> [String] {
    values.map { "\($0.field.rawValue)=\($0.value)" }
  }

  private func fact(_ kind: FactKind, _ json: String) throws -> Fact {
    try PayloadDecoder.fact(
      kind: kind, payload: Array(json.utf8), digest: Given.digest(1),
      bundleID: "com.example.scribe")
  }

  private static let transaction =
    #""bundleId":"com.example.scribe","environment":"Production","transactionId":"1","#
    + #""originalTransactionId":"1","productId":"p","purchaseDate":1,"signedDate":1"#
  private static let renewalInfo =
    #""environment":"Production","originalTransactionId":"1","signedDate":1"#

  @Test func `a transaction`() throws {
    let fact = try fact(
      .transaction,
      "{\(Self.transaction),"
        + #""type":"Timed Pass","inAppOwnershipType":"BORROWED","offerType":9,"#
        + #""offerDiscountType":"HALF","revocationReason":7,"revocationType":"REFUND_CREDIT","#
        + #""transactionReason":"GIFT"}"#)
    #expect(
      fields(fact.unknownValues) == [
        "type=Timed Pass", "inAppOwnershipType=BORROWED", "offerType=9", "offerDiscountType=HALF",
        "revocationReason=7", "revocationType=REFUND_CREDIT", "transactionReason=GIFT",
      ])
  }

  @Test func `a renewal info, its autoRenewStatus included, which counts as absent`() throws {
    let unknown = try fact(
      .renewalInfo,
      "{\(Self.renewalInfo),"
        + #""autoRenewStatus":2,"expirationIntent":6,"priceIncreaseStatus":-1,"offerType":0}"#)
    #expect(
      fields(unknown.unknownValues) == [
        "offerType=0", "expirationIntent=6", "priceIncreaseStatus=-1", "autoRenewStatus=2",
      ])
    guard case .renewalInfo(let info) = unknown else {
      Issue.record("not a renewal info")
      return
    }
    #expect(info.autoRenews == nil && info.unknownAutoRenewStatus == 2)
    for (json, autoRenews) in [("0", false), ("1", true), ("null", nil)] as [(String, Bool?)] {
      let fact = try fact(.renewalInfo, "{\(Self.renewalInfo),\"autoRenewStatus\":\(json)}")
      #expect(fact.unknownValues.isEmpty)
      guard case .renewalInfo(let info) = fact else { continue }
      #expect(info.autoRenews == autoRenews && info.unknownAutoRenewStatus == nil)
    }
  }

  @Test func `an app transaction`() throws {
    let json =
      #"{"bundleId":"com.example.scribe","receiptType":"Production","receiptCreationDate":1,"#
    #expect(
      fields(try fact(.appTransaction, json + #""originalPlatform":"carOS"}"#).unknownValues)
        == ["originalPlatform=carOS"])
    for platform in ["iOS", "macOS", "tvOS", "visionOS"] {
      let fact = try fact(.appTransaction, json + "\"originalPlatform\":\"\(platform)\"}")
      #expect(fact.unknownValues.isEmpty)
    }
  }

  @Test func `all of Apple's values are known, and an absent value is not unknown`() throws {
    let strings = [
      "type": [
        "Auto-Renewable Subscription", "Non-Renewing Subscription", "Non-Consumable", "Consumable",
      ],
      "inAppOwnershipType": ["PURCHASED", "FAMILY_SHARED", "ASSIGNED"],
      "transactionReason": ["PURCHASE", "RENEWAL"],
      "revocationType": ["REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE"],
    ]
    for (field, values) in strings {
      for value in values {
        let fact = try fact(.transaction, "{\(Self.transaction),\"\(field)\":\"\(value)\"}")
        #expect(fact.unknownValues.isEmpty, "\(field) \(value)")
      }
    }
    for offer in 1...4 {
      for discount in ["FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME"] {
        let json = #""offerType":\#(offer),"offerDiscountType":"\#(discount)""#
        #expect(try fact(.transaction, "{\(Self.transaction),\(json)}").unknownValues.isEmpty)
      }
    }
    let numbers = [
      ("revocationReason", 0...1, FactKind.transaction),
      ("expirationIntent", 1...5, .renewalInfo), ("priceIncreaseStatus", 0...1, .renewalInfo),
    ]
    for (field, values, kind) in numbers {
      let rest = kind == .transaction ? Self.transaction : Self.renewalInfo
      for value in values {
        #expect(try fact(kind, "{\(rest),\"\(field)\":\(value)}").unknownValues.isEmpty)
      }
      for value in [values.lowerBound - 1, values.upperBound + 1] {
        #expect(try fact(kind, "{\(rest),\"\(field)\":\(value)}").unknownValues.count == 1)
      }
    }
    #expect(try fact(.transaction, "{\(Self.transaction)}").unknownValues.isEmpty)
    #expect(try fact(.renewalInfo, "{\(Self.renewalInfo)}").unknownValues.isEmpty)
  }

  @Test(
    "A notification",
    arguments: [
      ("TEST", nil, nil, []), ("DID_RENEW", "BILLING_RECOVERY", 1, []),
      ("NEW_TYPE", nil, nil, ["notificationType=NEW_TYPE"]),
      ("NEW_TYPE", "NEW", 1, ["notificationType=NEW_TYPE", "subtype=NEW"]),
      ("DID_RENEW", "NEW", 5, ["subtype=NEW"]),
      ("DID_RENEW", "SUMMARY", nil, ["notificationForm=DID_RENEW/SUMMARY"]),
      ("SUBSCRIBED", nil, nil, ["notificationForm=SUBSCRIBED/"]),
      ("EXPIRED", nil, 6, ["status=6"]), ("EXPIRED", nil, 0, ["status=0"]),
    ] as [(String, String?, Int64?, [String])])
  func notification(type: String, subtype: String?, status: Int64?, expected: [String]) {
    let record = NotificationRecord(
      uuid: "u", type: type, subtype: subtype, status: status, digest: Given.digest(1))
    #expect(fields(record.unknownValues) == expected)
  }

  @Test func `a value that is too long is truncated between characters`() {
    for (text, length) in [
      (String(repeating: "A", count: 64), 64), (String(repeating: "A", count: 65), 64),
      (String(repeating: "€", count: 100), 63), (String(repeating: "😀", count: 17), 64),
      ("A" + String(repeating: "😀", count: 17), 61), ("", 0),
    ] {
      let value = UnknownValue(field: .type, value: text).value
      #expect(value.utf8.count == length)
      #expect(text.hasPrefix(value))
    }
  }

  @Test func `case 26: an unknown type of purchase grants nothing by itself`() {
    let purchase = Given.purchase(
      1, product: "adfree", type: ProductType(rawValue: "Timed Pass"), at: 0)
    #expect(Fact.transaction(purchase).unknownValues.map(\.field) == [.type])
    let state = Given.state([purchase], at: 1)
    #expect(state.coreState == .inactive && state.entitlements.isEmpty)
    #expect(state.products.first?.standing.notices == [.typeUnknown])
  }
}
