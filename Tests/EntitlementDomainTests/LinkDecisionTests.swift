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
      byPreviousChain: row.previous, policy: .transfer, confersNow: { true })
    #expect(decision.accountID == row.account)
    #expect(decision.reason == row.reason)
    #expect(!decision.isClaimRefused)
  }

  typealias Claim = (policy: LinkPolicy, confersNow: Bool, isGranted: Bool)

  static let claims: [Claim] = [
    (.transfer, true, true), (.transfer, false, true),
    (.transferIfInactive, true, false), (.transferIfInactive, false, true),
    (.keep, true, false), (.keep, false, false),
  ]

  @Test("R44: the policy decides a claim of another account", arguments: claims)
  func policy(_ claim: Claim) {
    let decision = decide(existing: "owner", named: "claimer", claim)
    #expect(decision.accountID == (claim.isGranted ? "claimer" : "owner"))
    #expect(decision.reason == (claim.isGranted ? .claimed : nil))
    #expect(decision.isClaimRefused == !claim.isGranted)
  }

  @Test("R44: no policy refuses the owner, or whoever names a chain without a link")
  func ownClaims() {
    for claim in Self.claims {
      let repeated = decide(existing: "owner", named: "owner", claim)
      #expect(repeated.accountID == "owner")
      #expect(repeated.reason == nil)
      #expect(!repeated.isClaimRefused)
      let first = decide(existing: nil, named: "claimer", claim)
      #expect(first.accountID == "claimer")
      #expect(first.reason == .named)
      #expect(!first.isClaimRefused)
    }
  }

  @Test("Case 11: a token that changed on a crossgrade moves no linked chain (R43)")
  func hints() {
    for claim in Self.claims {
      let decision = LinkDecision.decide(
        existing: "owner", named: nil, byToken: "t", byAppTransaction: "a", byPreviousChain: "p",
        policy: claim.policy, confersNow: { claim.confersNow })
      #expect(decision.accountID == "owner")
      #expect(decision.reason == nil)
      #expect(!decision.isClaimRefused)
    }
  }

  @Test("R44: what nobody signed takes nothing from an account, whatever the policy")
  func unsignedClaims() {
    for claim in Self.claims {
      let decision = decide(existing: "owner", named: "claimer", claim, isNamedUnsigned: true)
      #expect(decision.accountID == "owner")
      #expect(decision.reason == nil)
      #expect(decision.isClaimRefused)
    }
  }

  @Test("R42, R44: an import gives what has no account to the one named, and repeats are no claim")
  func imports() {
    for claim in Self.claims {
      let first = decide(existing: nil, named: "named", claim, isNamedUnsigned: true)
      #expect(first.accountID == "named")
      #expect(first.reason == .imported)
      #expect(!first.isClaimRefused)
      let repeated = decide(existing: "named", named: "named", claim, isNamedUnsigned: true)
      #expect(repeated.accountID == "named")
      #expect(repeated.reason == nil)
      #expect(!repeated.isClaimRefused)
    }
  }

  @Test("R44: whether the chain confers is asked only where the answer matters")
  func asksOnlyWhenNeeded() {
    var asked: [String] = []
    func decide(_ name: String, existing: AccountID?, named: AccountID?, _ policy: LinkPolicy) {
      _ = LinkDecision.decide(
        existing: existing, named: named, byToken: nil, byAppTransaction: nil,
        byPreviousChain: nil, policy: policy,
        confersNow: {
          asked.append(name)
          return true
        })
    }
    decide("transfer", existing: "owner", named: "claimer", .transfer)
    decide("keep", existing: "owner", named: "claimer", .keep)
    decide("unlinked", existing: nil, named: "claimer", .transferIfInactive)
    decide("own", existing: "owner", named: "owner", .transferIfInactive)
    decide("claim", existing: "owner", named: "claimer", .transferIfInactive)
    _ = LinkDecision.decide(
      existing: "owner", named: "claimer", byToken: nil, byAppTransaction: nil,
      byPreviousChain: nil, isNamedUnsigned: true, policy: .transferIfInactive,
      confersNow: {
        asked.append("import")
        return false
      })
    #expect(asked == ["claim"])
  }

  @Test("R44: a failure to say whether the chain confers is passed on, never taken for an answer")
  func failure() {
    struct Unavailable: Error {}
    #expect(throws: Unavailable.self) {
      try LinkDecision.decide(
        existing: "owner", named: "claimer", byToken: nil, byAppTransaction: nil,
        byPreviousChain: nil, policy: .transferIfInactive, confersNow: { throw Unavailable() })
    }
  }

  private func decide(
    existing: AccountID?, named: AccountID?, _ claim: Claim, isNamedUnsigned: Bool = false
  ) -> LinkDecision {
    LinkDecision.decide(
      existing: existing, named: named, byToken: nil, byAppTransaction: nil, byPreviousChain: nil,
      isNamedUnsigned: isNamedUnsigned, policy: claim.policy, confersNow: { claim.confersNow })
  }
}
