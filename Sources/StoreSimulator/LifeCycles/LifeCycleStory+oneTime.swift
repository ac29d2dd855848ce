import EntitlementDomain

// Life cycles of purchases that do not renew.
extension LifeCycleStory {
  static let nonRenewing = LifeCycleStory(
    "buys a non-renewing subscription for three months", characteristicDay: 30
  ) { script in writeSeason(to: &script) }

  static let nonRenewingEnded = LifeCycleStory(
    "has bought a non-renewing subscription that has ended", characteristicDay: 100
  ) { script in writeSeason(to: &script) }

  static let nonConsumable = LifeCycleStory(
    "buys a non-consumable", characteristicDay: 30
  ) { script in
    let purchase = script.purchase(SimulatedApp.adFree, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    script.expect(.active(SimulatedApp.adFree), from: script.start)
  }

  static let nonConsumableRefunded = LifeCycleStory(
    "buys a non-consumable and is refunded on day 10", characteristicDay: 15
  ) { script in writeRefundedPurchase(to: &script) }

  static let boughtAgain = LifeCycleStory(
    "is refunded on day 10 and buys the same product again on day 25", characteristicDay: 30
  ) { script in
    writeRefundedPurchase(to: &script)
    let again = script.start.adding(days: 25)
    let purchase = script.purchase(SimulatedApp.adFree, at: again)
    script.sign(purchase, as: .oneTimeCharge, at: again)
    script.expect(.active(SimulatedApp.adFree), from: again)
  }

  static let paidAppMigration = LifeCycleStory(
    "bought the app years ago, before it became free, and now buys a non-consumable",
    characteristicDay: 40
  ) { script in
    let purchase = script.purchase(SimulatedApp.adFree, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    for (day, version) in [(0, "412"), (30, "415")] as [(Int64, String)] {
      script.signAppTransaction(
        version: version, originalVersion: "108",
        originalPurchaseDate: script.start.adding(days: -1_200),
        at: script.start.adding(days: day))
    }
    script.expect(.active(SimulatedApp.adFree), from: script.start)
  }

  static let consumable = LifeCycleStory(
    "buys a consumable", characteristicDay: 10
  ) { script in
    let purchase = script.purchase(SimulatedApp.tokens, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    script.expect(.consumed(SimulatedApp.tokens), from: script.start)
  }

  static let consumableRefunded = LifeCycleStory(
    "requests a refund of a consumable; the developer is asked, and Apple refunds it",
    characteristicDay: 12
  ) { script in
    let product = SimulatedApp.tokens
    var purchase = script.purchase(product, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    script.expect(.consumed(product), from: script.start)
    script.sign(
      purchase, as: .consumptionRequest, at: script.start.adding(days: 4),
      consumptionRequestReason: "UNINTENDED_PURCHASE")
    let notified = script.start.adding(days: 6)
    purchase.revocationDate = notified.adding(hours: -1)
    purchase.revocationReason = .other
    purchase.revocationType = .refundFull
    script.sign(purchase, as: .refund, at: notified)
    script.expect(.revoked(product), from: notified)
  }

  private static func writeSeason(to script: inout LifeCycleScript) {
    let purchase = script.purchase(SimulatedApp.season, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    script.expect(.active(SimulatedApp.season), from: script.start)
    script.expect(
      .expired(SimulatedApp.season, .ended), from: script.start.adding(months: 3))
  }

  private static func writeRefundedPurchase(to script: inout LifeCycleScript) {
    var purchase = script.purchase(SimulatedApp.adFree, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    script.expect(.active(SimulatedApp.adFree), from: script.start)
    let notified = script.start.adding(days: 10)
    purchase.revocationDate = notified.adding(minutes: -30)
    purchase.revocationReason = .other
    purchase.revocationType = .refundFull
    script.sign(purchase, as: .refund, at: notified)
    script.expect(.revoked(SimulatedApp.adFree), from: notified)
  }
}
