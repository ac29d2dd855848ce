/// What the App Store is told about a purchase whose refund a customer asks for, with the customer's
/// consent (Send Consumption Information, v2).
package struct ConsumptionInformation: Hashable, Sendable {
  /// Raw values are Apple's. They are stored.
  package enum DeliveryStatus: String, Hashable, Sendable, CaseIterable {
    case delivered = "DELIVERED"
    case qualityIssue = "UNDELIVERED_QUALITY_ISSUE"
    case wrongItem = "UNDELIVERED_WRONG_ITEM"
    case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
    case other = "UNDELIVERED_OTHER"
  }

  /// Raw values are Apple's.
  package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case decline = "DECLINE"
    case grantFull = "GRANT_FULL"
    case grantProrated = "GRANT_PRORATED"
  }

  /// Whether the customer consented. Without consent nothing may be sent.
  package var customerConsented: Bool
  /// Whether a sample or a trial was offered before the purchase.
  package var sampleContentProvided: Bool
  package var deliveryStatus: DeliveryStatus
  package var refundPreference: RefundPreference?
  /// In thousandths of a percent, 0 to ``allConsumed``. Not for auto-renewable subscriptions.
  package var consumptionPercentage: Int64?

  /// 100 percent, in thousandths of a percent.
  package static let allConsumed: Int64 = 100_000

  package init(
    customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: DeliveryStatus,
    refundPreference: RefundPreference? = nil, consumptionPercentage: Int64? = nil
  ) {
    self.customerConsented = customerConsented
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    self.refundPreference = refundPreference
    self.consumptionPercentage = consumptionPercentage
  }

  /// What was sent, in one line of at most 100 bytes, such as `DELIVERED, no sample, 42500, DECLINE`.
  package var summary: String {
    let parts: [String?] = [
      deliveryStatus.rawValue, sampleContentProvided ? "sample" : "no sample",
      consumptionPercentage.map(String.init), refundPreference?.rawValue,
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}
