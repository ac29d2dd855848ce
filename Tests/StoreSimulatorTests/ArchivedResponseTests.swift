import Cryptography
import EntitlementDomain
import Foundation
import StoreSimulator
import Testing

@Suite("The archived response of verifyReceipt")
struct ArchivedResponseTests {
  private typealias Object = [String: Any]

  private static func object(_ json: [UInt8]) throws -> Object {
    try #require(try JSONSerialization.jsonObject(with: Data(json)) as? Object)
  }

  private static func response(_ lifeCycle: LifeCycle, day: Int64) throws -> Object {
    try object(TimelineReceiptTests.receipt(lifeCycle, day: day).archivedResponse())
  }

  @Test("It has the contents of the receipt, with Apple's names", arguments: LifeCycle.allCases)
  func agreement(lifeCycle: LifeCycle) throws {
    let receipt = TimelineReceiptTests.receipt(lifeCycle, day: lifeCycle.characteristicDay)
    let response = try Self.object(receipt.archivedResponse())
    #expect(response["status"] as? Int == 0)
    #expect(response["environment"] as? String == "Production")
    let told = try #require(response["receipt"] as? Object)
    #expect(told["receipt_type"] as? String == "Production")
    #expect(told["bundle_id"] as? String == "com.example.scribe")
    #expect(
      told["original_application_version"] as? String == receipt.originalApplicationVersion)
    #expect(told["receipt_creation_date_ms"] as? String == "\(receipt.creationDate)")
    #expect(told["request_date_ms"] as? String == "\(receipt.creationDate)")
    let items = try #require(told["in_app"] as? [Object])
    #expect(
      items.map { $0["transaction_id"] as? String } == receipt.items.map(\.transactionID?.rawValue))
    for (item, expected) in zip(items, receipt.items) {
      #expect(item["quantity"] as? String == "1")
      #expect(item["product_id"] as? String == expected.productID?.rawValue)
      #expect(
        item["original_transaction_id"] as? String == expected.originalTransactionID?.rawValue)
      for (name, date) in [
        ("purchase_date", expected.purchaseDate), ("expires_date", expected.expiresDate),
        ("original_purchase_date", expected.originalPurchaseDate),
        ("cancellation_date", expected.cancellationDate),
      ] {
        #expect(item["\(name)_ms"] as? String == date.map { "\($0)" }, "\(name)")
      }
      #expect(item["is_trial_period"] as? String == "\(expected.isTrialPeriod)")
      #expect(item["in_app_ownership_type"] as? String == expected.response.ownership?.rawValue)
      #expect(item["type"] == nil && item["product_type"] == nil)
    }
    // Only periods, the latest first.
    let latest = response["latest_receipt_info"] as? [Object] ?? []
    #expect(
      latest.map { $0["transaction_id"] as? String }
        == receipt.items.filter { $0.expiresDate != nil }.reversed().map(\.transactionID?.rawValue))
    let renewals = response["pending_renewal_info"] as? [Object] ?? []
    #expect(
      renewals.map { $0["original_transaction_id"] as? String }
        == receipt.renewals.map(\.originalTransactionID.rawValue))
    for (renewal, expected) in zip(renewals, receipt.renewals) {
      #expect(renewal["auto_renew_status"] as? String == expected.autoRenews.map { $0 ? "1" : "0" })
      #expect(renewal["auto_renew_product_id"] as? String == expected.autoRenewProductID?.rawValue)
      #expect(
        renewal["expiration_intent"] as? String
          == expected.expirationIntent.map { "\($0.rawValue)" })
      #expect(
        renewal["grace_period_expires_date_ms"] as? String
          == expected.gracePeriodExpiresDate.map { "\($0)" })
    }
  }

  @Test("Dates have three forms, in UTC and in Pacific time")
  func dates() throws {
    let seed = UInt64.random(in: 0...(.max))
    var generator = SeededGenerator(seed: seed)
    let zone = try #require(TimeZone(identifier: "America/Los_Angeles"))
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    // Until 2037 the zone is written down for each year; the edges of 2026 come on top.
    let range = SimulatedCalendar.range.lowerBound.rawValue / 1_000..<2_145_916_800
    var moments = (0..<2_000).map { _ in
      range.lowerBound + Int64(generator.number(below: Int(range.upperBound - range.lowerBound)))
    }
    for edge in [Int64(1_772_964_000), 1_793_523_600] { moments += [edge - 1, edge, edge + 1] }
    for seconds in moments {
      let receipt = SimulatedReceipt(creationDate: Milliseconds(seconds * 1_000))
      let told = try #require(
        try Self.object(receipt.archivedResponse())["receipt"] as? Object)
      let date = Date(timeIntervalSince1970: TimeInterval(seconds))
      formatter.timeZone = TimeZone(secondsFromGMT: 0)
      #expect(
        told["receipt_creation_date"] as? String == formatter.string(from: date) + " Etc/GMT")
      formatter.timeZone = zone
      #expect(
        told["receipt_creation_date_pst"] as? String
          == formatter.string(from: date) + " America/Los_Angeles", "seed \(seed)")
      #expect(told["receipt_creation_date_ms"] as? String == "\(seconds)000")
    }
  }

  @Test("It has what receipts lack: upgrades, reasons, groups, tokens, offers")
  func details() throws {
    let upgraded = try #require(
      try Self.response(.upgrade, day: 15)["latest_receipt_info"] as? [Object])
    #expect(upgraded.map { $0["is_upgraded"] as? String } == [nil, "true"])
    #expect(upgraded.allSatisfy { $0["subscription_group_identifier"] as? String == "21000001" })
    let refunded = try Self.response(.nonConsumableRefunded, day: 15)
    let items = (refunded["receipt"] as? Object)?["in_app"] as? [Object]
    #expect(items?.map { $0["cancellation_reason"] as? String } == ["0"])
    #expect(refunded["latest_receipt_info"] == nil && refunded["pending_renewal_info"] == nil)

    var receipt = SignedReceiptTests.receipt(itemCount: 1)
    receipt.items[0].response.appAccountToken = "6f8f4c60-0000-4000-8000-000000000001"
    receipt.items[0].response.offer = Offer(type: .promotional, identifier: "spring")
    receipt.requestDate = 1_763_800_000_000
    receipt.newerItems = receipt.items
    receipt.newerItems[0].transactionID = "2999999999999999"
    receipt.newerItems[0].response.offer = Offer(type: .offerCode, identifier: "code")
    let response = try Self.object(receipt.archivedResponse(latestReceipt: [1, 2, 3]))
    let latest = try #require(response["latest_receipt_info"] as? [Object])
    #expect(
      latest.map { $0["transaction_id"] as? String }
        == ["2999999999999999", receipt.items[0].transactionID?.rawValue])
    #expect(latest.map { $0["promotional_offer_id"] as? String } == [nil, "spring"])
    #expect(latest.map { $0["offer_code_ref_name"] as? String } == ["code", nil])
    #expect(
      latest.allSatisfy {
        $0["app_account_token"] as? String == "6f8f4c60-0000-4000-8000-000000000001"
      })
    #expect(response["latest_receipt"] as? String == "AQID")
    let told = try #require(response["receipt"] as? Object)
    #expect(told["request_date_ms"] as? String == "1763800000000")
    #expect((told["in_app"] as? [Object])?.count == 1)
  }

  @Test("An empty list of purchases is written, and the receipt's type gives the environment")
  func empty() throws {
    for (type, environment) in [
      ("Production", "Production"), ("ProductionVPP", "Production"),
      ("ProductionSandbox", "Sandbox"), ("ProductionVPPSandbox", "Sandbox"),
    ] {
      let receipt = SimulatedReceipt(receiptType: type, creationDate: SignedReceiptTests.now)
      let response = try Self.object(receipt.archivedResponse())
      #expect(response["environment"] as? String == environment)
      #expect(((response["receipt"] as? Object)?["in_app"] as? [Object])?.isEmpty == true)
      #expect(receipt.archivedResponse() == receipt.archivedResponse())
    }
  }
}
