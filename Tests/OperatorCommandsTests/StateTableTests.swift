import EntitlementDomain
import Testing

@testable import OperatorCommands

@Suite("Tables of customer states")
struct StateTableTests {
  /// 2026-01-02 03:04:05Z.
  private let now: Milliseconds = 1_767_323_045_000

  private func source(_ origin: EntitlementSource.Origin) -> EntitlementSource {
    EntitlementSource(origin: origin, since: now, until: nil)
  }

  private let purchase = EntitlementSource.Origin.purchase(
    "2000000001", chain: "2000000000", product: "com.example.scribe.pro.monthly")
  private let grant = EntitlementSource.Origin.grant("0190a000-0000-4000-8000-000000000001")
  private let rule = EntitlementSource.Origin.grandfathering("paid_before_2")

  private func state(
    _ origins: [EntitlementSource.Origin], grandfathering: [GrandfatheringState] = [],
    groups: [GroupState] = []
  ) -> CustomerState {
    CustomerState(
      scope: AppScope(bundleID: "com.example.scribe", environment: .production),
      accountID: "customer-1", revision: 7, evaluatedAt: now, coreState: .active,
      callsToAction: [.none],
      entitlements: [EntitlementState(entitlementID: "pro", sources: origins.map(source))],
      products: [], groups: groups, grandfathering: grandfathering, nextTransitionAt: nil)
  }

  @Test func `each kind of source of an entitlement is named`() {
    let rows = StateTable.details(state([purchase, grant, rule])).split(separator: "\n")
    let expected = [
      "ENTITLEMENT  SINCE                 UNTIL  CONFERRED BY",
      "pro          2026-01-02 03:04:05Z  -      com.example.scribe.pro.monthly, transaction "
        + "2000000001",
      "pro          2026-01-02 03:04:05Z  -      grant 0190a000-0000-4000-8000-000000000001",
      "pro          2026-01-02 03:04:05Z  -      grandfathering rule paid_before_2",
    ]
    #expect(rows.suffix(4).map(String.init) == expected)
  }

  @Test func `a list marks entitlements that no purchase confers`() {
    let rows: [([EntitlementSource.Origin], String)] = [
      ([purchase], "pro"), ([grant, purchase], "pro"), ([grant, grant], "pro (grant)"),
      ([rule], "pro (grandfathering)"), ([grant, rule], "pro (grant, grandfathering)"),
    ]
    for (origins, name) in rows {
      let row = StateTable.list([state(origins)]).split(separator: "\n").last
      #expect(
        row == "customer-1  ACTIVE  \(name)\(padding(after: name))  -        -       -      NONE")
    }
  }

  private func padding(after name: String) -> String {
    String(repeating: " ", count: max(0, "ENTITLEMENTS".count - name.count))
  }

  @Test func `each grandfathering rule has a line with its reason`() {
    let text = StateTable.details(
      state(
        [rule],
        grandfathering: [
          GrandfatheringState(
            ruleID: "paid_before_2", outcome: .granted, reason: .versionAndDateDisagree,
            isFlagged: true, appTransactionID: "7000000001"),
          GrandfatheringState(
            ruleID: "paid_before_3", outcome: .notEvaluated, reason: .environment,
            isFlagged: false),
        ]))
    let expected = [
      "GRANDFATHERING RULE  OUTCOME        REASON                     FLAGGED  APP TRANSACTION",
      "paid_before_2        GRANTED        VERSION_AND_DATE_DISAGREE  yes      7000000001",
      "paid_before_3        NOT_EVALUATED  ENVIRONMENT                no       -",
    ]
    #expect(text.split(separator: "\n").suffix(3).map(String.init) == expected)
  }

  @Test(
    "Renewal offers and win-back offers are named",
    arguments: [
      (nil, [], "-"),
      (Offer(type: .promotional, identifier: "WINTER"), [], "at renewal: WINTER"),
      (Offer(type: .introductory), [], "at renewal: introductory"),
      (Offer(type: .offerCode), [], "at renewal: offer code"),
      (Offer(type: .winBack), [], "at renewal: win-back"),
      (Offer(type: .promotional), [], "at renewal: promotional"),
      (Offer(type: OfferType(rawValue: 9)), [], "at renewal: type 9"),
      (nil, ["BACK1", "BACK2"], "win-back: BACK1, BACK2"),
      (Offer(type: .winBack, identifier: "W"), ["B"], "at renewal: W; win-back: B"),
    ] as [(Offer?, [String], String)])
  func offers(renewal: Offer?, winBack: [String], cell: String) throws {
    var standing = Standing(
      coreState: .active, status: .active, productID: "com.example.scribe.pro.monthly",
      productType: .autoRenewable, transactionID: "2000000001",
      originalTransactionID: "2000000000", periodStart: now, firstPurchaseAt: now,
      callToAction: .none)
    standing.renewalOffer = renewal
    standing.winBackOfferIDs = winBack
    let group = GroupState(
      groupID: "21000001", standing: standing, trialUsed: false, introductoryOfferUsed: false)
    let rows = StateTable.details(state([purchase], groups: [group])).split(separator: "\n")
    let row = try #require(rows.last)
    let header = try #require(rows.dropLast().last)
    let start = try #require(header.firstRange(of: "OFFERS")).lowerBound
    let end = try #require(header.firstRange(of: "NOTICES")).lowerBound
    let column = header.distance(from: header.startIndex, to: start)
    let width = header.distance(from: start, to: end)
    let text = row.dropFirst(column).prefix(width)
    #expect(String(text.reversed().drop { $0 == " " }.reversed()) == cell)
  }
}
