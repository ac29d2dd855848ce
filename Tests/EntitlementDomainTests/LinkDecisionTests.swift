import EntitlementDomain
import Testing

@Suite("Link decisions")
struct LinkDecisionTests {
  typealias Case = (
    existing: AccountID?, named: AccountID?, token: AccountID?, app: AccountID?,
    previous: AccountID?, account: AccountID?, reason: LinkReason?
  )

  static let cases: [Case] = [
    (nil, nil, nil, nil, nil, nil, nil),
    (nil, "n", "t", "a", "p", "n", .named),
    (nil, nil, "t", "a", "p", "t", .appAccountToken),
    (nil, nil, nil, "a", "p", "a", .appTransaction),
    (nil, nil, nil, nil, "p", "p", .previousChain),
    ("e", nil, "t", "a", "p", "e", nil),
    ("e", "e", "t", "a", "p", "e", nil),
    ("e", "n", "t", "a", "p", "n", .claimed),
  ]

  @Test("R42–R44: the account is found in order; hints never move a linked chain", arguments: cases)
  func order(_ row: Case) {
    let decision = LinkDecision.decide(
      existing: row.existing, named: row.named, byToken: row.token, byAppTransaction: row.app,
      byPreviousChain: row.previous)
    #expect(decision.accountID == row.account)
    #expect(decision.reason == row.reason)
  }
}
