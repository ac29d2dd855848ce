import EntitlementDomain

// Life cycles with notifications that do not change entitlements.
extension LifeCycleStory {
  static let refundDeclined = LifeCycleStory(
    "requests a refund; the developer is asked, and Apple declines it", characteristicDay: 20
  ) { script in
    let product = SimulatedApp.proMonthly
    let subscription = script.subscribeForOneMonth(to: product)
    script.sign(
      subscription, as: .consumptionRequest, at: script.start.adding(days: 9), status: .active,
      consumptionRequestReason: "UNSATISFIED_WITH_PURCHASE")
    script.sign(
      subscription, as: .refundDeclined, at: script.start.adding(days: 12), status: .active)
    script.expectOverdueRenewal(product, from: script.start.adding(months: 1))
  }

  static let externalPurchase = LifeCycleStory(
    "has bought once, and later buys outside the App Store", characteristicDay: 45
  ) { script in
    let purchase = script.purchase(SimulatedApp.adFree, at: script.start)
    script.sign(purchase, as: .oneTimeCharge, at: script.start)
    script.expect(.active(SimulatedApp.adFree), from: script.start)
    let created = script.start.adding(days: 3)
    let token = StoreNotification.Subject.externalPurchaseToken(
      ExternalPurchaseToken(
        identifier: script.nextUUID(), tokenCreationDate: created))
    script.notify(.externalTokenCreated, at: created, about: token)
    script.notify(.externalTokenReminder, at: created.adding(days: 30), about: token)
    script.notify(.externalTokenUnreported, at: created.adding(days: 35), about: token)
  }

  static let consentRescinded = LifeCycleStory(
    "is a child whose parent withdraws consent to the app on day 12", characteristicDay: 20
  ) { script in
    let product = SimulatedApp.basicMonthly
    _ = script.subscribeForOneMonth(to: product)
    script.signAppTransaction(
      version: LifeCycleScript.bundleVersion, originalVersion: "398",
      originalPurchaseDate: script.start.adding(days: -90), as: .consentRescinded,
      at: script.start.adding(days: 12))
    // The operator decides about the use of the app. The purchase stays valid (R2).
    script.expectOverdueRenewal(product, from: script.start.adding(months: 1))
  }

  static let testNotification = LifeCycleStory(
    "subscribes; the operator asks for a test notification on day 2", characteristicDay: 10
  ) { script in
    _ = script.subscribeForOneMonth(to: SimulatedApp.proMonthly)
    script.notify(.test, at: script.start.adding(days: 2))
    script.expectOverdueRenewal(SimulatedApp.proMonthly, from: script.start.adding(months: 1))
  }
}
