/// What the App Store is told about purchases of a product when their refund is asked for
/// (`consumption` of a product in the catalog file; R87).
package struct ConsumptionPolicy: Hashable, Sendable {
  /// Where the percentage comes from.
  package enum Percentage: Hashable, Sendable {
    /// The backend states it for each purchase. Without it nothing is sent.
    case required
    /// The backend may state it.
    case optional
    /// The same for each purchase, in thousandths of a percent.
    case fixed(Int64)
  }

  /// Of a purchase for which the backend states none.
  package var deliveryStatus: ConsumptionInformation.DeliveryStatus
  package var sampleContentProvided: Bool
  package var refundPreference: ConsumptionInformation.RefundPreference?
  /// Nil: none is sent.
  package var percentage: Percentage?

  package init(
    deliveryStatus: ConsumptionInformation.DeliveryStatus = .delivered,
    sampleContentProvided: Bool = false,
    refundPreference: ConsumptionInformation.RefundPreference? = nil, percentage: Percentage? = nil
  ) {
    self.deliveryStatus = deliveryStatus
    self.sampleContentProvided = sampleContentProvided
    self.refundPreference = refundPreference
    self.percentage = percentage
  }
}

/// What the backend says of one purchase, for the App Store (R87).
package struct ConsumptionStatement: Hashable, Sendable {
  /// In thousandths of a percent, 0 to ``ConsumptionInformation/allConsumed``; nil for none.
  package var percentage: Int64?
  /// Nil: as the policy of the product says.
  package var deliveryStatus: ConsumptionInformation.DeliveryStatus?

  package init(
    percentage: Int64? = nil, deliveryStatus: ConsumptionInformation.DeliveryStatus? = nil
  ) {
    self.percentage = percentage
    self.deliveryStatus = deliveryStatus
  }
}
