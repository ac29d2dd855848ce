/// The offer under which a period was bought, or will renew.
public struct Offer: Hashable, Sendable {
  public var type: OfferType
  /// `offerIdentifier`: for promotional, code and win-back offers.
  public var identifier: String?
  public var discountType: OfferDiscountType?
  /// `offerPeriod`: an ISO 8601 duration.
  public var period: String?

  public init(
    type: OfferType, identifier: String? = nil, discountType: OfferDiscountType? = nil,
    period: String? = nil
  ) {
    self.type = type
    self.identifier = identifier
    self.discountType = discountType
    self.period = period
  }
}
