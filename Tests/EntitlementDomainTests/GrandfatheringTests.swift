import CatalogFiles
import EntitlementDomain
import Testing

@Suite("Grandfathering")
struct GrandfatheringTests {
  static let cutoff = Given.day(0)
  static let before = Given.day(-10)
  static let after = Given.day(10)

  static func rule(
    _ thresholds: [AppPlatform: String] = [.iOS: "108"], cutoff: Milliseconds? = cutoff,
    policy: GrandfatheringRule.ConflictPolicy = .grantAndFlag, leadingOnly: Bool = false,
    simulated: GrandfatheringRule.Simulated? = nil
  ) -> GrandfatheringRule {
    GrandfatheringRule(
      id: "paid-era", bundleID: Given.scope.bundleID, entitlements: ["pro"],
      thresholds: thresholds.compactMapValues { AppVersion($0) },
      comparesLeadingComponentOnly: leadingOnly, cutoff: cutoff, conflictPolicy: policy,
      simulated: simulated)
  }

  /// Signed on day 50.
  static func app(
    _ id: String? = "a1", version: String? = nil, date: Milliseconds? = nil,
    platform: String? = "iOS", preorder: Milliseconds? = nil,
    in environment: StoreEnvironment = .production
  ) -> AppTransactionFact {
    var fact = AppTransactionFact(
      bundleID: Given.scope.bundleID, environment: environment, signedDate: Given.day(50),
      digest: Given.digest(1))
    fact.appTransactionID = id.map { AppTransactionID($0) }
    fact.originalApplicationVersion = version
    fact.originalPurchaseDate = date
    fact.originalPlatform = platform
    fact.preorderDate = preorder
    return fact
  }

  static func verdict(
    _ rule: GrandfatheringRule, _ facts: [AppTransactionFact],
    in environment: StoreEnvironment = .production
  ) -> GrandfatheringVerdict {
    rule.verdict(on: facts, in: environment)
  }

  // MARK: R37

  enum Say: CaseIterable { case before, notBefore, missing, unreadable }

  struct Row: Sendable, CustomStringConvertible {
    let version: Say
    let date: Say
    let policy: GrandfatheringRule.ConflictPolicy
    let outcome: GrandfatheringOutcome
    let reason: GrandfatheringReason
    let isFlagged: Bool

    init(
      _ version: Say, _ date: Say, _ policy: GrandfatheringRule.ConflictPolicy,
      _ outcome: GrandfatheringOutcome, _ reason: GrandfatheringReason, flagged: Bool
    ) {
      self.version = version
      self.date = date
      self.policy = policy
      self.outcome = outcome
      self.reason = reason
      isFlagged = flagged
    }

    var description: String { "version \(version), date \(date), \(policy.rawValue)" }
  }

  /// Rows without a policy hold for all policies.
  static let table: [Row] =
    GrandfatheringRule.ConflictPolicy.allCases.flatMap { policy in
      [
        Row(.before, .before, policy, .granted, .versionAndDateAgree, flagged: false),
        Row(.notBefore, .notBefore, policy, .denied, .versionAndDateAgree, flagged: false),
        Row(.before, .missing, policy, .granted, .versionAlone, flagged: true),
        Row(.notBefore, .missing, policy, .denied, .versionAlone, flagged: true),
        Row(.missing, .before, policy, .granted, .dateAlone, flagged: false),
        Row(.missing, .notBefore, policy, .denied, .dateAlone, flagged: false),
        Row(.missing, .missing, policy, .unknown, .noEvidence, flagged: true),
        Row(.unreadable, .before, policy, .granted, .dateAloneUnreadableVersion, flagged: true),
        Row(.unreadable, .notBefore, policy, .denied, .dateAloneUnreadableVersion, flagged: true),
        Row(.unreadable, .missing, policy, .unknown, .noEvidence, flagged: true),
      ]
    } + [
      Row(.before, .notBefore, .grantAndFlag, .granted, .versionAndDateDisagree, flagged: true),
      Row(.before, .notBefore, .preferDate, .denied, .versionAndDateDisagree, flagged: true),
      Row(.before, .notBefore, .preferVersion, .granted, .versionAndDateDisagree, flagged: true),
      Row(.notBefore, .before, .grantAndFlag, .granted, .versionAndDateDisagree, flagged: true),
      Row(.notBefore, .before, .preferDate, .granted, .versionAndDateDisagree, flagged: true),
      Row(.notBefore, .before, .preferVersion, .denied, .versionAndDateDisagree, flagged: true),
    ]

  @Test("R37: version and date are checked against each other", arguments: table)
  func crossCheck(row: Row) {
    let version: String? =
      switch row.version {
      case .before: "107"
      case .notBefore: "108"
      case .missing: nil
      case .unreadable: "2.0b1"
      }
    let date: Milliseconds? =
      switch row.date {
      case .before: Self.before
      case .notBefore: Self.after
      case .missing, .unreadable: nil
      }
    let verdict = Self.verdict(
      Self.rule(policy: row.policy), [Self.app(version: version, date: date)])
    #expect(
      verdict.state
        == GrandfatheringState(
          ruleID: "paid-era", outcome: row.outcome, reason: row.reason, isFlagged: row.isFlagged,
          appTransactionID: "a1"))
    let since = row.outcome == .granted ? date ?? Given.day(50) : nil
    #expect(verdict.since == since)
  }

  @Test("R37: the table has every combination once")
  func tableIsComplete() {
    let combinations = Set(Self.table.map { "\($0)" })
    #expect(combinations.count == Self.table.count)
    #expect(combinations.count == 4 * 3 * 3)
  }

  @Test(
    "R37: the cutoff itself is not before it",
    arguments: [(-1, .granted), (0, .denied), (1, .denied)] as [(Int64, GrandfatheringOutcome)])
  func cutoffIsHalfOpen(offset: Int64, outcome: GrandfatheringOutcome) {
    let fact = Self.app(date: Self.cutoff.advanced(by: offset))
    #expect(Self.verdict(Self.rule([:]), [fact]).state.outcome == outcome)
  }

  @Test("R37: without a cutoff the version alone decides, and that is not flagged")
  func noCutoff() {
    let rule = Self.rule(cutoff: nil)
    for (version, outcome) in [("107", GrandfatheringOutcome.granted), ("108", .denied)] {
      for date in [Self.before, Self.after, nil] {
        let state = Self.verdict(rule, [Self.app(version: version, date: date)]).state
        #expect(state.outcome == outcome)
        #expect(state.reason == .versionAlone)
        #expect(!state.isFlagged)
      }
    }
    for version in [nil, "x"] {
      let state = Self.verdict(rule, [Self.app(version: version, date: Self.before)]).state
      #expect(state.outcome == .unknown)
      #expect(state.reason == .noEvidence)
      #expect(state.isFlagged)
    }
  }

  @Test("R37: no app transaction is no denial, and is flagged")
  func noAppTransaction() {
    let verdict = Self.verdict(Self.rule(), [])
    #expect(
      verdict.state
        == GrandfatheringState(
          ruleID: "paid-era", outcome: .unknown, reason: .noAppTransaction, isFlagged: true))
    #expect(verdict.since == nil)
  }

  // MARK: The named cases

  @Test("Case 19: build 108 against a rule written as 2.0 is seen by the date (R33, R37)")
  func case19() {
    // Build 108 is version 1.9 of the app: it is before 2.0, but 108 is not lower than 2.
    let mistaken = Self.rule([.iOS: "2.0"])
    let state = Self.verdict(mistaken, [Self.app(version: "108", date: Self.before)]).state
    #expect(state.outcome == .granted)
    #expect(state.reason == .versionAndDateDisagree)
    #expect(state.isFlagged)
    let text = """
      version: 1
      apps: [{bundle_id: com.example.scribe, app_apple_id: 1}]
      entitlements: [{id: pro}]
      grandfathering:
        - id: paid-era
          bundle_id: com.example.scribe
          entitlements: [pro]
          original_version_before: {iOS: "2.0"}
          original_purchase_date_before: 2026-01-01T00:00:00Z
      """
    let warnings = (try? CatalogFile.parse(text))?.warnings ?? []
    #expect(warnings.map(\.field) == ["grandfathering[0].original_version_before.iOS"])
  }

  @Test(
    "Case 20: in Sandbox a rule is not evaluated, whatever Apple's constants say (R35)",
    arguments: [StoreEnvironment.sandbox, .xcode, .localTesting], [true, false])
  func case20(environment: StoreEnvironment, hasAppTransaction: Bool) {
    let fact = Self.app(version: "1.0", date: 1_375_340_400_000, in: environment)
    let verdict = Self.verdict(Self.rule(), hasAppTransaction ? [fact] : [], in: environment)
    #expect(
      verdict
        == GrandfatheringVerdict(
          state: GrandfatheringState(
            ruleID: "paid-era", outcome: .notEvaluated, reason: .environment, isFlagged: false),
          since: nil))
  }

  @Test("Case 21: a receipt without a version is judged by its date, unflagged (R36)")
  func case21() {
    // A receipt from before 2013-06-20, of an app that became free in 2026.
    let receipt = Self.app(nil, date: 1_330_000_000_000, platform: nil)
    let verdict = Self.verdict(Self.rule(), [receipt])
    #expect(verdict.state.outcome == .granted)
    #expect(verdict.state.reason == .dateAlone)
    #expect(!verdict.state.isFlagged)
    #expect(verdict.state.appTransactionID == receipt.identity)
    #expect(verdict.since == 1_330_000_000_000)
    // An empty text counts as absent.
    #expect(
      Self.verdict(Self.rule(), [Self.app(version: "", date: Self.after)]).state.reason
        == .dateAlone)
  }

  @Test("Case 22: where date and version disagree, the rule's policy decides, flagged (R37)")
  func case22() {
    let disagreeing = Self.app(version: "200", date: Self.before)
    let outcomes = GrandfatheringRule.ConflictPolicy.allCases.map {
      Self.verdict(Self.rule(policy: $0), [disagreeing]).state.outcome
    }
    #expect(outcomes == [.granted, .granted, .denied])
  }

  // MARK: R33, R34

  static let both: [AppPlatform: String] = [.iOS: "108", .macOS: "2.0"]

  static let platforms: [([AppPlatform: String], String?, String, GrandfatheringReason, Bool?)] = [
    // Each platform has its own threshold.
    (both, "iOS", "107", .versionAndDateAgree, true),
    (both, "iOS", "108", .versionAndDateDisagree, true),
    (both, "macOS", "1.9", .versionAndDateAgree, true),
    (both, "macOS", "2.0", .versionAndDateDisagree, true),
    (both, "macOS", "107", .versionAndDateDisagree, true),
    // No threshold for this platform, or an unknown platform: only the date counts.
    (both, "tvOS", "107", .dateAlone, true),
    (both, "carOS", "107", .dateAlone, true),
    (both, "ios", "107", .dateAlone, true),
    ([.visionOS: "5"], "visionOS", "4", .versionAndDateAgree, true),
    ([:], "iOS", "1", .dateAlone, true),
    ([:], nil, "1", .dateAlone, true),
    // Without a platform, the result holds if all thresholds agree.
    ([.iOS: "108"], nil, "107", .versionAndDateAgree, true),
    ([.iOS: "108"], nil, "108", .versionAndDateDisagree, true),
    ([.macOS: "2.0"], nil, "1.9", .versionAndDateAgree, true),
    (both, nil, "1.9", .versionAndDateAgree, true),
    (both, nil, "108", .versionAndDateDisagree, true),
    ([.iOS: "108", .tvOS: "108"], nil, "107", .versionAndDateAgree, true),
    // If they differ, the version is unreadable without its platform.
    (both, nil, "50", .dateAloneUnreadableVersion, true),
    (both, nil, "2.0", .dateAloneUnreadableVersion, true),
  ]

  @Test("R33: thresholds are per platform", arguments: platforms)
  func perPlatform(
    thresholds: [AppPlatform: String], platform: String?, version: String,
    reason: GrandfatheringReason, isGranted: Bool?
  ) {
    let fact = Self.app(version: version, date: Self.before, platform: platform)
    let state = Self.verdict(Self.rule(thresholds), [fact]).state
    #expect(state.reason == reason)
    #expect((state.outcome == .granted) == isGranted)
    let isFlagged = reason == .versionAndDateDisagree || reason == .dateAloneUnreadableVersion
    #expect(state.isFlagged == isFlagged)
  }

  @Test(
    "R34: build 9 came before build 10, and 2.0 is 2",
    arguments: [("9", "10", true), ("10", "9", false), ("2", "2.0", false), ("1.99", "2.0", true)])
  func numeric(version: String, threshold: String, isBefore: Bool) {
    let state = Self.verdict(
      Self.rule([.iOS: threshold], cutoff: nil), [Self.app(version: version)]
    ).state
    #expect(state.outcome == (isBefore ? .granted : .denied))
  }

  @Test(
    "R34: a rule may compare the leading component only",
    arguments: [("2.9", true, false), ("2.9", false, true), ("1.9", true, true)])
  func leadingComponent(version: String, leadingOnly: Bool, isBefore: Bool) {
    let rule = Self.rule([.iOS: "2.95"], cutoff: nil, leadingOnly: leadingOnly)
    let outcome = Self.verdict(rule, [Self.app(version: version)]).state.outcome
    #expect(outcome == (isBefore ? .granted : .denied))
  }

  // MARK: R35

  static let simulations: [(String?, Milliseconds?, GrandfatheringOutcome, Milliseconds?)] = [
    ("107", before, .granted, before), ("108", after, .denied, nil),
    ("107", nil, .granted, 1_375_340_400_000), (nil, before, .granted, before),
    (nil, after, .denied, nil), (nil, nil, .unknown, nil),
  ]

  @Test(
    "R35: outside Production, simulated values count for everybody", arguments: simulations,
    [StoreEnvironment.sandbox, .xcode, .localTesting])
  func simulated(
    values: (String?, Milliseconds?, GrandfatheringOutcome, Milliseconds?),
    environment: StoreEnvironment
  ) {
    let (version, date, outcome, since) = values
    let rule = Self.rule(
      simulated: .init(
        originalVersion: version.flatMap { AppVersion($0) }, originalPurchaseDate: date))
    let constants = Self.app(version: "1.0", date: 1_375_340_400_000, in: environment)
    for facts in [[], [constants], [Self.app("a2", in: environment), constants]] {
      let verdict = Self.verdict(rule, facts, in: environment)
      #expect(verdict.state.outcome == outcome)
      #expect(verdict.since == since)
      #expect(verdict.state.appTransactionID == (facts.isEmpty ? nil : "a1"))
    }
  }

  @Test("R35: of the app transaction the platform counts, when values are simulated")
  func simulatedPlatform() {
    let rule = Self.rule(
      Self.both, cutoff: nil,
      simulated: .init(originalVersion: AppVersion("50"), originalPurchaseDate: nil))
    func outcome(_ platform: String?) -> GrandfatheringOutcome {
      Self.verdict(rule, [Self.app(platform: platform, in: .sandbox)], in: .sandbox).state.outcome
    }
    #expect(outcome("iOS") == .granted)
    #expect(outcome("macOS") == .denied)
    #expect(outcome(nil) == .unknown)
  }

  @Test(
    "R35: in Production simulated values count for nothing, and 1.0 is a version like any other")
  func production() {
    let rule = Self.rule(
      simulated: .init(originalVersion: AppVersion("1"), originalPurchaseDate: Self.before))
    #expect(Self.verdict(rule, []).state.reason == .noAppTransaction)
    let new = Self.app(version: "200", date: Self.after)
    #expect(Self.verdict(rule, [new]).state.outcome == .denied)
    let old = Self.app(version: "1.0", date: 1_375_340_400_000)
    #expect(Self.verdict(rule, [old]).state.reason == .versionAndDateAgree)
    #expect(Self.verdict(rule, [old]).state.outcome == .granted)
  }

  // MARK: R38

  static let preorders: [(Milliseconds?, Milliseconds?, Bool, Milliseconds?)] = [
    (after, before, true, before), (before, after, true, before), (after, after, false, nil),
    (nil, before, true, before), (before, nil, true, before),
  ]

  @Test("R38: a pre-order counts as the purchase where it is earlier", arguments: preorders)
  func preorder(
    purchased: Milliseconds?, preordered: Milliseconds?, isGranted: Bool, since: Milliseconds?
  ) {
    let verdict = Self.verdict(Self.rule([:]), [Self.app(date: purchased, preorder: preordered)])
    #expect((verdict.state.outcome == .granted) == isGranted)
    #expect(verdict.since == since)
  }
}
