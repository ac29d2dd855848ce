import EntitlementDomain
import Foundation
import StoreSimulator
import Testing

@Suite("The receipt of a life cycle")
struct TimelineReceiptTests {
  /// Midnight and some milliseconds, which no receipt has.
  static let start: Milliseconds = 1_760_054_400_789
  static let day = Milliseconds.dayLength

  static func receipt(
    _ lifeCycle: LifeCycle, day: Int64, environment: StoreEnvironment = .production
  ) -> SimulatedReceipt {
    Timeline(lifeCycle, seed: 4, start: start, environment: environment)
      .receipt(at: start.advanced(by: day * Self.day))
  }

  @Test(
    "It has every transaction that was signed, as it was signed last", arguments: LifeCycle.allCases
  )
  func everything(lifeCycle: LifeCycle) {
    let timeline = Timeline(lifeCycle, seed: 4, start: Self.start)
    for day in stride(from: Int64(0), through: lifeCycle.characteristicDay + 40, by: 3) {
      let moment = Self.start.advanced(by: day * Self.day + Milliseconds.hourLength)
      let receipt = timeline.receipt(at: moment)
      var latest: [TransactionID: TransactionPayload] = [:]
      for event in timeline.events where event.at <= moment {
        for transaction in event.transactions where transaction.type != .consumable {
          latest[transaction.transactionID] = transaction
        }
      }
      #expect(receipt.items.count == latest.count)
      for item in receipt.items {
        guard let transaction = item.transactionID.flatMap({ latest[$0] }) else {
          Issue.record("\(item) was not signed")
          continue
        }
        #expect(item.productID == transaction.productID)
        #expect(item.originalTransactionID == transaction.originalTransactionID)
        #expect(item.webOrderLineItemID == transaction.webOrderLineItemID)
        #expect(item.purchaseDate == Self.cut(transaction.purchaseDate))
        #expect(item.originalPurchaseDate == Self.cut(transaction.originalPurchaseDate))
        #expect(item.expiresDate == Self.cut(transaction.expiresDate))
        if transaction.isUpgraded != true {
          #expect(item.cancellationDate == Self.cut(transaction.revocationDate))
        }
      }
      #expect(receipt.creationDate == Self.cut(moment))
      let chains = Set(
        timeline.history(until: moment).compactMap(\.renewalInfo?.originalTransactionID))
      #expect(Set(receipt.renewals.map(\.originalTransactionID)) == chains)
      #expect(receipt.renewals.count == chains.count)
    }
  }

  @Test(
    "Before the first purchase it is a receipt without purchases", arguments: LifeCycle.allCases)
  func before(lifeCycle: LifeCycle) throws {
    let timeline = Timeline(lifeCycle, seed: 4, start: Self.start)
    let receipt = timeline.receipt(at: Self.start.advanced(by: -1))
    #expect(receipt.items.isEmpty && receipt.renewals.isEmpty)
    #expect(receipt.originalPurchaseDate.map { $0 <= receipt.creationDate } == true)
    let tree = try ReceiptTree(try SignedReceiptTests.authority.get().sign(receipt))
    #expect(try tree.items().isEmpty)
  }

  @Test("An upgraded period is cancelled at the upgrade, and stays so")
  func upgrade() {
    #expect(Self.receipt(.upgrade, day: 9).items.map(\.cancellationDate) == [nil])
    for day in [Int64(10), 20, 60] {
      let items = Self.receipt(.upgrade, day: day).items
      #expect(
        items.map(\.cancellationDate)
          == [Self.cut(Self.start.advanced(by: 10 * Self.day)), nil])
      #expect(items.map(\.response.isUpgraded) == [true, false])
    }
  }

  @Test("A refund cancels a purchase, until it is reversed")
  func refund() {
    let days = (Int64(0)...60).map {
      Self.receipt(.refundReversed, day: $0).items.contains { $0.cancellationDate != nil }
    }
    let first = days.firstIndex(of: true)
    let last = days.lastIndex(of: true)
    #expect(first != nil && first != 0 && last != 60)
    #expect(
      Self.receipt(.nonConsumableRefunded, day: 15).items.map {
        $0.cancellationDate != nil && $0.response.cancellationReason == .other
      } == [true])
  }

  @Test("A consumable is there until it is finished, an hour later")
  func consumable() {
    let timeline = Timeline(.consumable, seed: 4, start: Self.start)
    let hour = Milliseconds.hourLength
    for (elapsed, count) in [(Int64(-1), 0), (0, 1), (hour - 1, 1), (hour, 0), (hour * 100, 0)] {
      #expect(timeline.receipt(at: Self.start.advanced(by: elapsed)).items.count == count)
    }
    // Nor does a later refund bring it back.
    #expect(Self.receipt(.consumableRefunded, day: 7).items.isEmpty)
  }

  @Test("A free trial differs from other introductory offers")
  func offers() {
    let trial = Self.receipt(.freeTrial, day: 1).items
    #expect(trial.map(\.isTrialPeriod) == [true])
    #expect(trial.map(\.isInIntroductoryOfferPeriod) == [false])
    var transaction = TransactionPayload(
      transactionID: "1", originalTransactionID: "1", bundleID: "com.example.a", productID: "a",
      type: .autoRenewable, purchaseDate: 0, signedDate: 0, environment: .production)
    for (offer, isTrial, isIntroductory) in [
      (Offer(type: .introductory, discountType: .payUpFront), false, true),
      (Offer(type: .introductory, discountType: .freeTrial), true, false),
      (Offer(type: .promotional, discountType: .freeTrial), false, false),
    ] {
      transaction.offer = offer
      let item = SimulatedReceiptItem(transaction)
      #expect(item.isTrialPeriod == isTrial && item.isInIntroductoryOfferPeriod == isIntroductory)
    }
  }

  @Test("The app's versions and purchase date are the life cycle's, or Apple's fixed values")
  func app() {
    let told = Self.receipt(.paidAppMigration, day: 35)
    #expect(told.applicationVersion == "415" && told.originalApplicationVersion == "108")
    #expect(
      told.originalPurchaseDate == Self.cut(Self.start.advanced(by: -1_200 * Self.day)))
    let production = Self.receipt(.renewals, day: 35)
    #expect(production.originalApplicationVersion == "412")
    #expect(production.originalPurchaseDate == Self.cut(Self.start))
    let sandbox = Self.receipt(.renewals, day: 35, environment: .sandbox)
    #expect(sandbox.originalApplicationVersion == "1.0")
    #expect(sandbox.originalPurchaseDate?.rfc3339 == "2013-08-01T07:00:00Z")
    let early = Timeline(.renewals, seed: 4, start: 1_300_000_000_000)
    #expect(early.receipt(at: 1_371_686_399_000).originalApplicationVersion == nil)
    #expect(early.receipt(at: 1_371_686_400_000).originalApplicationVersion == "412")
  }

  @Test(
    "The type depends on the environment",
    arguments: [
      (StoreEnvironment.production, "Production"), (.sandbox, "ProductionSandbox"),
      (.xcode, "Xcode"),
    ])
  func environment(environment: StoreEnvironment, type: String) {
    #expect(Self.receipt(.grace, day: 1, environment: environment).receiptType == type)
    #expect(SimulatedReceipt.receiptType(for: environment) == type)
    #expect(SimulatedReceipt.receiptType(for: .localTesting) == nil)
  }

  @Test("A customer has one device, and each receipt has its own opaque value")
  func device() {
    let early = Self.receipt(.renewals, day: 1)
    let late = Self.receipt(.renewals, day: 40)
    #expect(early == Self.receipt(.renewals, day: 1))
    #expect(early.deviceIdentifier == late.deviceIdentifier)
    #expect(early.opaqueValue != late.opaqueValue)
    let population = Population(seed: 3, count: 200, now: Self.start, environment: .production)
    let devices = population.customers.map {
      $0.timeline.receipt(at: population.now).deviceIdentifier
    }
    #expect(Set(devices).count == 200)
  }

  private static func cut(_ moment: Milliseconds?) -> Milliseconds? {
    moment.map { Milliseconds($0.rawValue / 1_000 * 1_000) }
  }
}
