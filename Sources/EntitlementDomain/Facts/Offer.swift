/// The offer under which a period was bought, or will renew.
package struct Offer: Hashable, Sendable {
  package var type: OfferType
  /// `offerIdentifier`: for promotional, code and win-back offers.
  package var identifier: String?
  package var discountType: OfferDiscountType?
  /// `offerPeriod`: an ISO 8601 duration.
  package var period: String?

  package init(
    type: OfferType, identifier: String? = nil, discountType: OfferDiscountType? = nil,
    period: String? = nil
  ) {
    self.type = type
    self.identifier = identifier
    self.discountType = discountType
    self.period = period
  }
}
