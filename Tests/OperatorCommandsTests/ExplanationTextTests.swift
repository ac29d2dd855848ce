import EntitlementDomain
import Testing

@testable import OperatorCommands

@Suite("The text of an explanation")
struct ExplanationTextTests {
  /// 2026-01-02 03:04:05.678Z.
  private let now: Milliseconds = 1_767_323_045_678
  private let dayLength = Milliseconds.dayLength

  private func state(coreState: CoreState, accountID: AccountID? = "customer-1") -> CustomerState {
    CustomerState(
      scope: AppScope(bundleID: "com.example.scribe", environment: .sandbox),
      accountID: accountID, revision: 7, evaluatedAt: now, coreState: coreState,
      callsToAction: [.none], entitlements: [], products: [], groups: [], nextTransitionAt: nil)
  }

  private func decision(_ rule: Rule, _ sentence: String) -> Decision {
    Decision(rule: rule, sentence: sentence)
  }

  @Test func `has the decision, the other considered items and the possible changes`() {
    let grace = decision(19, "In grace until 2026-01-05 03:04:05Z.")
    let explanation = Explanation(
      state: state(coreState: .active),
      entitlements: [
        EntitlementExplanation(
          entitlementID: "pro", isConferred: true,
          reasoning: Reasoning(
            decision: grace,
            considered: [
              ConsideredItem(
                kind: .transaction, identifier: "2000000001",
                productID: "com.example.scribe.pro.monthly",
                statedAt: now.advanced(by: -dayLength), isDecisive: true, decision: grace),
              ConsideredItem(
                kind: .renewalInfo, identifier: "2000000000",
                statedAt: now.advanced(by: -dayLength), isDecisive: true,
                decision: decision(19, "Grants grace.")),
              ConsideredItem(
                kind: .appTransaction, identifier: "7000000001", statedAt: now, isDecisive: false,
                decision: decision(37, "Came after the change.")),
              ConsideredItem(
                kind: .grant, identifier: "0190a000-0000-4000-8000-000000000001", statedAt: now,
                isDecisive: false, decision: decision(32, "Ended.")),
              ConsideredItem(
                kind: .grandfatheringRule, identifier: "paid_before_2", isDecisive: false,
                decision: decision(37, "Denied.")),
            ],
            changes: [
              ExpectedChange(
                at: now.advanced(by: 3 * dayLength), decision: decision(19, "Grace ends.")),
              ExpectedChange(at: nil, decision: decision(18, "A renewal goes on.")),
            ])),
        EntitlementExplanation(
          entitlementID: "archive", isConferred: false,
          reasoning: Reasoning(
            decision: decision(31, "Nothing confers it."), considered: [], changes: [])),
      ],
      groups: [
        GroupExplanation(
          groupID: "21000001", status: .grace,
          reasoning: Reasoning(
            decision: decision(28, "The best of 1 chain."), considered: [], changes: []))
      ])
    #expect(
      ExplanationText.text(of: explanation) == """
        customer        customer-1
        app             com.example.scribe (Sandbox)
        state           ACTIVE
        evaluated at    2026-01-02 03:04:05Z

        entitlement pro: conferred
          R19: In grace until 2026-01-05 03:04:05Z.
          decided by
            transaction 2000000001, com.example.scribe.pro.monthly, stated 2026-01-01 03:04:05Z
            renewal info of chain 2000000000, stated 2026-01-01 03:04:05Z
              R19: Grants grace.
          also considered
            app transaction 7000000001, stated 2026-01-02 03:04:05Z
              R37: Came after the change.
            grant 0190a000-0000-4000-8000-000000000001, given 2026-01-02 03:04:05Z
              R32: Ended.
            grandfathering rule paid_before_2
              R37: Denied.
          would change it
            2026-01-05 03:04:05Z  R19: Grace ends.
            at any time           R18: A renewal goes on.

        entitlement archive: not conferred
          R31: Nothing confers it.

        group 21000001: GRACE
          R28: The best of 1 chain.
        """)
  }

  @Test func `says what a truncated explanation leaves out`() {
    let ended = decision(16, "Refunded.")
    let explanation = Explanation(
      state: state(coreState: .inactive), entitlements: [],
      groups: [
        GroupExplanation(
          groupID: "21000001", status: .revoked,
          reasoning: Reasoning(
            decision: ended,
            considered: [
              ConsideredItem(
                kind: .transaction, identifier: "2000000001", isDecisive: true, decision: ended)
            ],
            changes: [ExpectedChange(at: nil, decision: decision(15, "A purchase."))],
            consideredOmitted: 9_999, changesCompleteUntil: now.advanced(by: dayLength)))
      ],
      omitted: ExplanationOmissions(groups: 9_500, sources: 12))
    #expect(
      ExplanationText.text(of: explanation) == """
        customer        customer-1
        app             com.example.scribe (Sandbox)
        state           INACTIVE
        evaluated at    2026-01-02 03:04:05Z

        truncated: this customer has more than an explanation lists. Not listed:
          9500 subscription groups
          12 sources of entitlements

        group 21000001: REVOKED
          R16: Refunded.
          decided by
            transaction 2000000001
          also considered
            and 9999 more, not listed
          would change it
            at any time  R15: A purchase.
            what changes with time after 2026-01-03 03:04:05Z is not listed
        """)
  }

  @Test func `of an unknown customer has only the head`() {
    let explanation = Explanation(
      state: state(coreState: .new, accountID: nil), entitlements: [], groups: [])
    #expect(
      ExplanationText.text(of: explanation, catalog: "next.yaml") == """
        customer        not linked to an account
        app             com.example.scribe (Sandbox)
        catalog         next.yaml
        state           NEW
        evaluated at    2026-01-02 03:04:05Z
        """)
  }

  @Test func `cannot be forged by an identifier or a sentence`() {
    let forged = "x\n\nentitlement pro: conferred\u{1b}[2J"
    let reasoning = Reasoning(
      decision: decision(31, forged),
      considered: [
        ConsideredItem(
          kind: .transaction, identifier: forged, productID: ProductID(forged), isDecisive: false,
          decision: decision(15, forged))
      ],
      changes: [ExpectedChange(at: nil, decision: decision(15, forged))])
    let text = ExplanationText.text(
      of: Explanation(
        state: state(coreState: .inactive, accountID: AccountID(forged)),
        entitlements: [
          EntitlementExplanation(
            entitlementID: EntitlementID(forged), isConferred: false, reasoning: reasoning)
        ],
        groups: [
          GroupExplanation(
            groupID: SubscriptionGroupID(forged), status: .expired, reasoning: reasoning)
        ]), catalog: forged)
    #expect(!text.contains("\u{1b}"))
    #expect(!text.split(separator: "\n").contains("entitlement pro: conferred"))
    #expect(!text.split(separator: "\n").contains { $0.hasPrefix("entitlement pro") })
  }
}
