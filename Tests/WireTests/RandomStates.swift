import EntitlementDomain
import TestSupport

@testable import Wire

extension CustomerState {
  static func random(using generator: inout SeededRandom) -> CustomerState {
    CustomerState(
      scope: .random(using: &generator),
      accountID: maybe(using: &generator) { .random(using: &$0) },
      revision: .random(in: .min ... .max, using: &generator),
      evaluatedAt: .random(using: &generator),
      coreState: CoreState.allCases.randomElement(using: &generator)!,
      callsToAction: CallToAction.allCases.shuffled(using: &generator),
      entitlements: many(using: &generator) { generator in
        EntitlementState(
          entitlementID: .random(using: &generator),
          sources: many(using: &generator) { generator in
            EntitlementSource(
              origin: .random(using: &generator), since: .random(using: &generator),
              until: maybe(using: &generator) { .random(using: &$0) },
              evidence: maybe(using: &generator) { generator in
                [.archivedResponse, .receipt, .signedTransaction]
                  .randomElement(using: &generator)!
              })
          })
      },
      products: many(using: &generator) { generator in
        ProductState(
          productID: .random(using: &generator),
          groupID: maybe(using: &generator) { .random(using: &$0) },
          isInCatalog: .random(using: &generator), standing: .random(using: &generator))
      },
      groups: many(using: &generator) { generator in
        GroupState(
          groupID: .random(using: &generator), standing: .random(using: &generator),
          trialUsed: .random(using: &generator),
          introductoryOfferUsed: .random(using: &generator))
      },
      grandfathering: many(using: &generator) { generator in
        GrandfatheringState(
          ruleID: .random(using: &generator),
          outcome: GrandfatheringOutcome.allCases.randomElement(using: &generator)!,
          reason: GrandfatheringReason.allCases.randomElement(using: &generator)!,
          isFlagged: .random(using: &generator),
          appTransactionID: maybe(using: &generator) { .random(using: &$0) })
      },
      nextTransitionAt: maybe(using: &generator) { .random(using: &$0) })
  }
}

extension Standing {
  static func random(using generator: inout SeededRandom) -> Standing {
    var standing = Standing(
      coreState: CoreState.allCases.randomElement(using: &generator)!,
      status: DetailedStatus.allCases.randomElement(using: &generator)!,
      productID: .random(using: &generator),
      productType: ProductType(rawValue: randomText(using: &generator)),
      transactionID: .random(using: &generator),
      originalTransactionID: .random(using: &generator),
      periodStart: .random(using: &generator), firstPurchaseAt: .random(using: &generator),
      callToAction: CallToAction.allCases.randomElement(using: &generator)!)
    standing.expirationReason = maybe(using: &generator) {
      ExpirationReason.allCases.randomElement(using: &$0)!
    }
    standing.periodEnd = maybe(using: &generator) { .random(using: &$0) }
    standing.graceEnd = maybe(using: &generator) { .random(using: &$0) }
    standing.willRenew = maybe(using: &generator) { .random(using: &$0) }
    standing.pendingChange = maybe(using: &generator) {
      PendingChange(productID: .random(using: &$0), effectiveAt: .random(using: &$0))
    }
    standing.priceConsent = maybe(using: &generator) {
      PriceConsent.allCases.randomElement(using: &$0)!
    }
    standing.offer = maybe(using: &generator, Offer.random)
    standing.renewalOffer = maybe(using: &generator, Offer.random)
    standing.winBackOfferIDs = many(using: &generator, randomText)
    standing.ownership = maybe(using: &generator, randomText).map(OwnershipType.init(rawValue:))
    standing.storefront = maybe(using: &generator, randomText)
    standing.revocation = maybe(using: &generator) { generator in
      Revocation(
        date: .random(using: &generator),
        reason: maybe(using: &generator) {
          RevocationReason(rawValue: .random(in: .min ... .max, using: &$0))
        },
        type: maybe(using: &generator, randomText).map(RevocationType.init(rawValue:)))
    }
    standing.commitment = maybe(using: &generator) { generator in
      Commitment(
        billingPeriodNumber: .random(in: .min ... .max, using: &generator),
        totalBillingPeriods: .random(in: .min ... .max, using: &generator),
        expiresDate: maybe(using: &generator) { .random(using: &$0) })
    }
    standing.notices = Notice.allCases.filter { _ in .random(using: &generator) }
    return standing
  }
}

extension EntitlementSource.Origin {
  static func random(using generator: inout SeededRandom) -> Self {
    switch Int.random(in: 0..<3, using: &generator) {
    case 0:
      .purchase(
        .random(using: &generator), chain: .random(using: &generator),
        product: .random(using: &generator))
    case 1: .grant(.random(using: &generator))
    default: .grandfathering(.random(using: &generator))
    }
  }
}

extension Offer {
  static func random(using generator: inout SeededRandom) -> Offer {
    Offer(
      type: OfferType(rawValue: .random(in: .min ... .max, using: &generator)),
      identifier: maybe(using: &generator, randomText),
      discountType: maybe(using: &generator, randomText).map(OfferDiscountType.init(rawValue:)),
      period: maybe(using: &generator, randomText))
  }
}
