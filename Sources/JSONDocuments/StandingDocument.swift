package import EntitlementDomain

/// How a product or a group stands, in JSON: the fields of `entitle.v1.Standing`.
package struct StandingDocument: Encodable {
  let coreState: String
  let status: String
  let expirationReason: String?
  let productId: String
  let productType: String
  let transactionId: String
  let originalTransactionId: String
  let periodStartMs: Int64
  let periodEndMs: Int64?
  let graceEndMs: Int64?
  let willRenew: Bool?
  let pendingChange: Change?
  let priceConsent: String?
  let offer: OfferDocument?
  let renewalOffer: OfferDocument?
  let winBackOfferIds: [String]?
  let ownership: String?
  let storefront: String?
  let revocation: RevocationDocument?
  let commitment: CommitmentDocument?
  let firstPurchaseAtMs: Int64
  let callToAction: String
  let notices: [String]

  struct Change: Encodable {
    let productId: String
    let effectiveAtMs: Int64
  }

  struct OfferDocument: Encodable {
    let type: Int64
    let identifier: String?
    let discountType: String?
    let period: String?

    init(_ offer: Offer) {
      type = offer.type.rawValue
      identifier = offer.identifier
      discountType = offer.discountType?.rawValue
      period = offer.period
    }
  }

  struct RevocationDocument: Encodable {
    let dateMs: Int64
    let reason: Int64?
    let type: String?
  }

  struct CommitmentDocument: Encodable {
    let billingPeriodNumber: Int64
    let totalBillingPeriods: Int64
    let expiresAtMs: Int64?
  }

  package init(_ standing: Standing) {
    coreState = wireName(standing.coreState)
    status = wireName(standing.status)
    expirationReason = standing.expirationReason.map { wireName($0) }
    productId = standing.productID.rawValue
    productType = standing.productType.rawValue
    transactionId = standing.transactionID.rawValue
    originalTransactionId = standing.originalTransactionID.rawValue
    periodStartMs = standing.periodStart.rawValue
    periodEndMs = standing.periodEnd?.rawValue
    graceEndMs = standing.graceEnd?.rawValue
    willRenew = standing.willRenew
    pendingChange = standing.pendingChange.map {
      Change(productId: $0.productID.rawValue, effectiveAtMs: $0.effectiveAt.rawValue)
    }
    priceConsent = standing.priceConsent.map { wireName($0) }
    offer = standing.offer.map { OfferDocument($0) }
    renewalOffer = standing.renewalOffer.map { OfferDocument($0) }
    winBackOfferIds = standing.winBackOfferIDs.isEmpty ? nil : standing.winBackOfferIDs
    ownership = standing.ownership?.rawValue
    storefront = standing.storefront
    revocation = standing.revocation.map {
      RevocationDocument(
        dateMs: $0.date.rawValue, reason: $0.reason?.rawValue, type: $0.type?.rawValue)
    }
    commitment = standing.commitment.map {
      CommitmentDocument(
        billingPeriodNumber: $0.billingPeriodNumber, totalBillingPeriods: $0.totalBillingPeriods,
        expiresAtMs: $0.expiresDate?.rawValue)
    }
    firstPurchaseAtMs = standing.firstPurchaseAt.rawValue
    callToAction = wireName(standing.callToAction)
    notices = standing.notices.map { wireName($0) }
  }
}
