import EntitlementDomain
import Testing
import Wire

@testable import Scenarios

@Suite("The schema of expected answers")
struct AnswerShapeTests {
  @Test("follows Protos")
  func state() throws {
    guard case .object(let state) = AnswerShape.state,
      case .keyed(by: "entitlementId", .object(let entitlement)) = state["entitlements"],
      case .list(.object(let source)) = entitlement["sources"],
      case .keyed(by: "productId", .object(let product)) = state["products"],
      case .object(let standing) = product["standing"]
    else {
      Issue.record("a state has another form")
      return
    }
    #expect(Set(state.keys) == Set(CustomerState.messageType.fields.map(\.name)))
    guard case .moment = source["sinceMs"], case .boolean = standing["willRenew"],
      case .integer = state["revision"], case .text = standing["storefront"],
      case .values(.text) = standing["winBackOfferIds"],
      case .values(.enumeration(let notices)) = standing["notices"],
      case .enumeration(let states) = state["coreState"]
    else {
      Issue.record("a field has another form")
      return
    }
    #expect(notices.contains("NOTICE_INFERRED"))
    #expect(states.contains("CORE_STATE_ACTIVE"))
  }

  @Test("Numbers, booleans and lists that JSON leaves out get their default value")
  func defaults() throws {
    let state = CustomerState(
      scope: AppScope(bundleID: "a", environment: .production), accountID: nil, revision: 0,
      evaluatedAt: 0, coreState: .new, callsToAction: [.merchandise], entitlements: [],
      products: [],
      groups: [
        GroupState(
          groupID: "1",
          standing: Standing(
            coreState: .inactive, status: .expired, productID: "p", productType: .autoRenewable,
            transactionID: "1", originalTransactionID: "1", periodStart: 5, firstPurchaseAt: 5,
            callToAction: .none), trialUsed: false, introductoryOfferUsed: true)
      ], nextTransitionAt: nil)
    let answer = try AnswerValue(state)
    #expect(answer["revision"] == .integer(0))
    #expect(answer["entitlements"] == .list([]))
    #expect(answer["accountId"] == nil)
    #expect(answer["nextTransitionAtMs"] == nil)
    #expect(answer["callsToAction"] == .list([.text("CALL_TO_ACTION_MERCHANDISE")]))
    guard case .list(let groups) = answer["groups"], let group = groups.first else {
      Issue.record("there is no group")
      return
    }
    #expect(group["trialUsed"] == .boolean(false))
    #expect(group["introductoryOfferUsed"] == .boolean(true))
    #expect(group["standing"]?["periodStartMs"] == .integer(5))
    #expect(group["standing"]?["willRenew"] == nil)
    #expect(group["standing"]?["expirationReason"] == nil)
  }
}
