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

  @Test("R42–R44: candidates are tried in order; hints move no linked chain", arguments: cases)
  func order(_ row: Case) {
    let decision = LinkDecision.decide(
      existing: row.existing, named: row.named, byToken: row.token, byAppTransaction: row.app,
      byPreviousChain: row.previous, isNamedUnsigned: false, policy: .transfer,
      course: { .open(isReturn: false) }, isWithinLimit: { true }, hasRoom: { _ in true },
      confersNow: { true })
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

  @Test("R44: no policy refuses the owner, or an account that names an unlinked chain")
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
        isNamedUnsigned: false, policy: claim.policy, course: { .open(isReturn: false) },
        isWithinLimit: { false },
        hasRoom: { _ in true }, confersNow: { claim.confersNow })
      #expect(decision.accountID == "owner")
      #expect(decision.reason == nil)
      #expect(!decision.isClaimRefused)
    }
  }

  @Test("R44: an unsigned submission takes nothing from an account, under every policy")
  func unsignedClaims() {
    for claim in Self.claims {
      let decision = decide(existing: "owner", named: "claimer", claim, isNamedUnsigned: true)
      #expect(decision.accountID == "owner")
      #expect(decision.reason == nil)
      #expect(decision.isClaimRefused)
    }
  }

  @Test("R42, R44: an import links an unlinked chain to the named account; a repeat is no claim")
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

  @Test("R72: what a learned hint linked yields to the first name, under every policy")
  func hinted() {
    for claim in Self.claims {
      let decision = decide(existing: "owner", named: "claimer", claim, standing: .hinted)
      #expect(decision.accountID == "claimer")
      #expect(decision.reason == .yielded)
      #expect(decision.isClaimGranted)
      let unsigned = decide(
        existing: "owner", named: "claimer", claim, isNamedUnsigned: true, standing: .hinted)
      #expect(unsigned.accountID == "owner")
      #expect(unsigned.refusal == .policy)
    }
  }

  @Test("R71: no claim moves an app transaction whose account was decided by name")
  func fixed() {
    for claim in Self.claims {
      let decision = decide(
        existing: "owner", named: "claimer", claim, standing: .decided, isFixed: true)
      #expect(decision.accountID == "owner")
      #expect(decision.refusal == .policy)
    }
  }

  @Test("R93: a purchase that claims moved too often goes to the account that has it by proof")
  func settled() {
    func decide(
      _ course: LinkDecision.Course, standing: LinkStanding = .contested, hasRoom: Bool = true
    ) -> LinkDecision {
      LinkDecision.decide(
        existing: "owner", named: "claimer", byToken: nil, byAppTransaction: nil,
        byPreviousChain: nil, standing: standing, isNamedUnsigned: false, policy: .transfer,
        course: { course }, isWithinLimit: { false }, hasRoom: { _ in hasRoom },
        confersNow: { true })
    }
    let returned = decide(.open(isReturn: true))
    #expect(returned.reason == .claimed && returned.isReturn && !returned.isSettled)
    #expect(decide(.open(isReturn: false)).refusal == .limit)
    let kept = decide(.settled("owner"))
    #expect(kept.accountID == "owner" && kept.reason == nil)
    #expect(kept.refusal == .disputed && kept.isSettled)
    let taken = decide(.settled("claimer"))
    #expect(taken.accountID == "claimer" && taken.reason == .settled)
    #expect(taken.isClaimGranted && taken.isReturn && taken.isSettled)
    let other = decide(.settled("earlier"))
    #expect(other.accountID == "earlier" && other.reason == .settled)
    #expect(other.refusal == .disputed && !other.isClaimGranted)
    let full = decide(.settled("earlier"), hasRoom: false)
    #expect(full.accountID == "owner" && full.refusal == .disputed && full.isSettled)
    let disputed = decide(.open(isReturn: true), standing: .disputed)
    #expect(disputed.refusal == .disputed && !disputed.isSettled)
    // Nobody claimed what only a learned hint linked.
    #expect(decide(.settled("owner"), standing: .hinted).refusal == .limit)
  }

  @Test("R44: at the limit, claims of linked chains are refused and unlinked chains are linked")
  func limits() {
    for claim in Self.claims {
      let decision = decide(existing: "owner", named: "claimer", claim, isWithinLimit: false)
      #expect(decision.accountID == "owner")
      #expect(decision.reason == nil)
      // The refusal is `.policy` and not `.limit`: the claim will be refused tomorrow too.
      #expect(decision.refusal == (claim.isGranted ? .limit : .policy))
      let hinted = decide(
        existing: "owner", named: "claimer", claim, standing: .hinted, isWithinLimit: false)
      #expect(hinted.refusal == .limit)
      let first = decide(existing: nil, named: "claimer", claim, isWithinLimit: false)
      #expect(first.reason == .named)
      let own = decide(existing: "claimer", named: "claimer", claim, isWithinLimit: false)
      #expect(own.refusal == nil)
    }
  }

  @Test("R44: expensive lookups are made only if the decision depends on them")
  func asksOnlyWhenNeeded() {
    func questions(
      existing: AccountID?, named: AccountID?, _ policy: LinkPolicy, isUnsigned: Bool = false,
      standing: LinkStanding = .named
    ) -> [String] {
      var asked: [String] = []
      func answer(_ question: String, _ answer: Bool) -> Bool {
        asked.append(question)
        return answer
      }
      _ = LinkDecision.decide(
        existing: existing, named: named, byToken: nil, byAppTransaction: nil,
        byPreviousChain: nil, standing: standing, isNamedUnsigned: isUnsigned, policy: policy,
        course: { .open(isReturn: false) }, isWithinLimit: { answer("limit", true) },
        hasRoom: { answer("room of \($0)", true) },
        confersNow: { answer("confers", true) })
      return asked
    }
    #expect(
      questions(existing: "owner", named: "claimer", .transfer) == ["limit", "room of claimer"])
    #expect(questions(existing: "owner", named: "claimer", .keep) == [])
    #expect(
      questions(existing: "owner", named: "claimer", .transferIfInactive) == ["confers"])
    #expect(
      questions(existing: "owner", named: "claimer", .transferIfInactive, standing: .hinted)
        == ["limit", "room of claimer"])
    #expect(
      questions(existing: nil, named: "claimer", .transferIfInactive) == ["room of claimer"])
    #expect(questions(existing: "owner", named: "owner", .transferIfInactive) == [])
    #expect(questions(existing: "owner", named: nil, .transferIfInactive) == [])
    #expect(
      questions(existing: "owner", named: "claimer", .transferIfInactive, isUnsigned: true) == [])
  }

  @Test("R68: an account without room gets nothing, and no other candidate is tried")
  func full() {
    typealias Row = (
      existing: AccountID?, named: AccountID?, full: AccountID, account: AccountID?, isRefused: Bool
    )
    let rows: [Row] = [
      (nil, "n", "n", nil, true), (nil, nil, "t", nil, true), ("e", "n", "n", "e", true),
      (nil, nil, "a", "t", false), (nil, "n", "t", "n", false), ("e", "e", "e", "e", false),
      ("e", nil, "t", "e", false),
    ]
    for row in rows {
      let decision = LinkDecision.decide(
        existing: row.existing, named: row.named, byToken: "t", byAppTransaction: "a",
        byPreviousChain: "p", isNamedUnsigned: false, policy: .transfer,
        course: { .open(isReturn: false) }, isWithinLimit: { true }, hasRoom: { $0 != row.full },
        confersNow: { true })
      #expect(decision.accountID == row.account)
      #expect(decision.refusal == (row.isRefused ? .accountFull(row.full) : nil))
    }
  }

  @Test("R44: an error of a lookup is thrown, and never counts as an answer")
  func failure() {
    struct Unavailable: Error {}
    #expect(throws: Unavailable.self) {
      try LinkDecision.decide(
        existing: "owner", named: "claimer", byToken: nil, byAppTransaction: nil,
        byPreviousChain: nil, isNamedUnsigned: false, policy: .transferIfInactive,
        course: { .open(isReturn: false) }, isWithinLimit: { true }, hasRoom: { _ in true },
        confersNow: { throw Unavailable() })
    }
  }

  private func decide(
    existing: AccountID?, named: AccountID?, _ claim: Claim, isNamedUnsigned: Bool = false,
    standing: LinkStanding = .named, isFixed: Bool = false, isWithinLimit: Bool = true
  ) -> LinkDecision {
    LinkDecision.decide(
      existing: existing, named: named, byToken: nil, byAppTransaction: nil, byPreviousChain: nil,
      standing: standing, isFixed: isFixed, isNamedUnsigned: isNamedUnsigned,
      policy: claim.policy, course: { .open(isReturn: false) }, isWithinLimit: { isWithinLimit },
      hasRoom: { _ in true },
      confersNow: { claim.confersNow })
  }
}
