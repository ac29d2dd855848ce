import EntitlementDomain
import JSONDocuments
import Testing

@testable import Scenarios

/// What a scenario may expect is listed by hand; here it meets the documents that are answered, so
/// that neither has a name that the other lacks.
@Suite("The names that a scenario may expect")
struct AnswerShapeTests {
  @Test("are those of a state, each with its form")
  func state() throws {
    let answer = try AnswerValue(StateDocument(Self.fullState))
    #expect(AnswerShape.state.admits(answer))
    #expect(Self.names(of: answer) == Self.names(of: .state))
  }

  @Test("are those of an event, each with its form")
  func event() throws {
    guard case .object(let notification) = AnswerShape.notification,
      case .list(let shape) = notification["events"]
    else {
      Issue.record("a notification's answer has no list of events")
      return
    }
    let answer = try AnswerValue(
      FeedEventDocument(
        FeedEvent(
          kind: .refetchDue, notificationUUID: "u", originalTransactionID: "1",
          transactionID: "1", deadline: 1, refetchReason: .statusMismatch, detail: "x")))
    #expect(shape.admits(answer))
    #expect(Self.names(of: answer) == Self.names(of: shape))
  }

  @Test("A form that is not the answer's is not admitted")
  func strangers() throws {
    #expect(!AnswerShape.state.admits(.object(["new_field": .text("x")])))
    #expect(!AnswerShape.state.admits(.object(["core_state": .integer(1)])))
    #expect(!AnswerShape.state.admits(.object(["groups": .list([.object([:])])])))
  }

  /// Every name with the path to it.
  private static func names(of value: AnswerValue, at path: String = "") -> Set<String> {
    switch value {
    case .object(let members):
      members.reduce(into: []) { names, member in
        let path = "\(path).\(member.key)"
        names.insert(path)
        names.formUnion(Self.names(of: member.value, at: path))
      }
    case .list(let items):
      items.reduce(into: []) { names, item in
        names.formUnion(Self.names(of: item, at: path))
      }
    default: []
    }
  }

  private static func names(of shape: AnswerShape, at path: String = "") -> Set<String> {
    switch shape {
    case .object(let members):
      members.reduce(into: []) { names, member in
        let path = "\(path).\(member.key)"
        names.insert(path)
        names.formUnion(Self.names(of: member.value, at: path))
      }
    case .list(let item), .keyed(_, let item): names(of: item, at: path)
    default: []
    }
  }

  /// A state in which nothing is absent.
  private static let fullState: CustomerState = {
    var standing = Standing(
      coreState: .active, status: .grace, productID: "p", productType: .autoRenewable,
      transactionID: "1", originalTransactionID: "1", periodStart: 1, firstPurchaseAt: 1,
      callToAction: .fixBilling)
    standing.expirationReason = .billingError
    standing.periodEnd = 2
    standing.graceEnd = 3
    standing.willRenew = true
    standing.pendingChange = PendingChange(productID: "q", effectiveAt: 2)
    standing.priceConsent = .pending
    standing.offer = Offer(
      type: .winBack, identifier: "o", discountType: .freeTrial, period: "P1W")
    standing.renewalOffer = standing.offer
    standing.winBackOfferIDs = ["w"]
    standing.ownership = .purchased
    standing.storefront = "DEU"
    standing.revocation = Revocation(date: 1, reason: .appIssue, type: .refundFull)
    standing.commitment = Commitment(
      billingPeriodNumber: 1, totalBillingPeriods: 12, expiresDate: 5)
    standing.notices = [.inferred]
    let sources: [EntitlementSource.Origin] = [
      .purchase("1", chain: "1", product: "p"), .grant("g"), .grandfathering("r"),
    ]
    return CustomerState(
      scope: AppScope(bundleID: "com.example.scribe", environment: .production),
      accountID: "anna", revision: 1, evaluatedAt: 1, coreState: .active,
      callsToAction: [.fixBilling],
      entitlements: [
        EntitlementState(
          entitlementID: "pro",
          sources: sources.map {
            EntitlementSource(origin: $0, since: 1, until: 2, evidence: .receipt)
          })
      ],
      products: [ProductState(productID: "p", groupID: "g", isInCatalog: true, standing: standing)],
      groups: [
        GroupState(
          groupID: "g", standing: standing, trialUsed: true, introductoryOfferUsed: true)
      ],
      grandfathering: [
        GrandfatheringState(
          ruleID: "r", outcome: .granted, reason: .dateAlone, isFlagged: true,
          appTransactionID: "a")
      ],
      nextTransitionAt: 3)
  }()
}
