import CatalogFiles
import EntitlementDomain
import Testing

@Suite("Link policies and grandfathering rules in catalog files")
struct CatalogPolicyTests {
  private static let valid = """
    version: 1
    apps:
      - bundle_id: com.example.scribe
        app_apple_id: 1234567890
        environments: [Production, Sandbox]
        link_policy:
          Production: keep
          Sandbox: transfer_if_inactive
      - bundle_id: com.example.notes
        environments: [Sandbox, Xcode]
        link_policy: keep
    entitlements:
      - id: pro
      - id: basic
    grandfathering:
      - id: paid-era
        bundle_id: com.example.scribe
        entitlements: [pro, basic]
        original_version_before:
          iOS: "108"
          macOS: "2.0"
        compare: leading_component
        original_purchase_date_before: 2024-03-01T00:00:00+01:00
        on_conflict: prefer_date
        simulated:
          original_version: "50"
          original_purchase_date: 1700000000000
      - id: early
        bundle_id: com.example.scribe
        entitlements: [basic]
        original_purchase_date_before: "2020-01-01T00:00:00Z"
    """

  @Test("A valid file gives its policies and rules, sorted by id")
  func accepted() throws {
    let contents = try CatalogFile.parse(Self.valid)
    #expect(contents.warnings.isEmpty)
    #expect(
      contents.catalog.apps["com.example.scribe"]?.linkPolicies == [
        .production: .keep, .sandbox: .transferIfInactive,
      ])
    #expect(
      contents.catalog.apps["com.example.notes"]?.linkPolicies == [.sandbox: .keep, .xcode: .keep])
    let thresholds = [AppPlatform.iOS: "108", .macOS: "2"].compactMapValues { AppVersion($0) }
    #expect(
      contents.catalog.grandfathering == [
        "com.example.scribe": [
          GrandfatheringRule(
            id: "early", bundleID: "com.example.scribe", entitlements: ["basic"],
            cutoff: 1_577_836_800_000),
          GrandfatheringRule(
            id: "paid-era", bundleID: "com.example.scribe", entitlements: ["basic", "pro"],
            thresholds: thresholds, comparesLeadingComponentOnly: true,
            cutoff: 1_709_247_600_000, conflictPolicy: .preferDate,
            simulated: .init(
              originalVersion: AppVersion("50"), originalPurchaseDate: 1_700_000_000_000)),
        ]
      ])
  }

  @Test("An environment without a policy has the default one")
  func defaultPolicy() throws {
    let text = Self.valid.replacing("      Sandbox: transfer_if_inactive\n", with: "")
    let catalog = try CatalogFile.parse(text).catalog
    let app: BundleID = "com.example.scribe"
    #expect(catalog.linkPolicy(in: AppScope(bundleID: app, environment: .production)) == .keep)
    #expect(catalog.linkPolicy(in: AppScope(bundleID: app, environment: .sandbox)) == .transfer)
  }

  @Test("Archived responses are refused unless the app accepts them")
  func archivedResponses() throws {
    for (field, isAccepted) in [
      ("", false), ("\n    archived_responses: refuse", false),
      ("\n    archived_responses: accept", true),
    ] {
      let text = Self.valid.replacing("link_policy: keep", with: "link_policy: keep\(field)")
      let apps = try CatalogFile.parse(text).catalog.apps
      #expect(apps["com.example.notes"]?.acceptsArchivedResponses == isAccepted)
      #expect(apps["com.example.scribe"]?.acceptsArchivedResponses == false)
    }
  }

  @Test("R73, R74: an app switches learned hints off, and has a namespace of its tokens")
  func hints() throws {
    let scope = AppScope(bundleID: "com.example.notes", environment: .sandbox)
    let namespace = "6ba7b811-9dad-11d1-80b4-00C04FD430C8"
    for (field, uses, learns, token) in [
      ("", true, true, nil), ("\n    learned_hints: use", true, true, nil),
      ("\n    learned_hints: ignore", false, false, nil),
      ("\n    account_token_namespace: \(namespace)", true, false, TokenNamespace(namespace)),
    ] {
      let text = Self.valid.replacing("link_policy: keep", with: "link_policy: keep\(field)")
      let catalog = try CatalogFile.parse(text).catalog
      #expect(catalog.usesLearnedHints(in: scope) == uses)
      #expect(catalog.learnsTokens(in: scope) == learns)
      #expect(catalog.tokenNamespace(in: scope) == token)
    }
  }

  @Test(
    "R93: an app sets how often claims may move a purchase; the default is 6",
    arguments: [
      ("", 6), ("\n    claims_per_purchase: 1", 1), ("\n    claims_per_purchase: 50", 50),
    ])
  func claimsPerPurchase(field: String, claims: Int) throws {
    let text = Self.valid.replacing("link_policy: keep", with: "link_policy: keep\(field)")
    let catalog = try CatalogFile.parse(text).catalog
    let scope = AppScope(bundleID: "com.example.notes", environment: .sandbox)
    #expect(catalog.claimsPerPurchase(in: scope) == claims)
  }

  @Test("R44: an app sets its claims per day and its anonymous prefix; the default is 20 claims")
  func claims() throws {
    let prefix = String(repeating: "é", count: 32)
    for (field, claims, prefix) in [
      ("", 20, "anonymous:"), ("\n    claims_per_day: 1", 1, "anonymous:"),
      ("\n    claims_per_day: 1000000", 1_000_000, "anonymous:"),
      ("\n    anonymous_prefix: $", 20, "$"), ("\n    anonymous_prefix: \(prefix)", 20, prefix),
    ] {
      let text = Self.valid.replacing("link_policy: keep", with: "link_policy: keep\(field)")
      let catalog = try CatalogFile.parse(text).catalog
      let scope = AppScope(bundleID: "com.example.notes", environment: .sandbox)
      #expect(catalog.claimsPerDay(in: scope) == claims)
      #expect(catalog.isAnonymous(AccountID(prefix), in: scope))
      #expect(catalog.isAnonymous(AccountID(prefix + "x"), in: scope))
      #expect(!catalog.isAnonymous(AccountID("x" + prefix), in: scope))
      let other = AppScope(bundleID: "com.example.scribe", environment: .sandbox)
      #expect(catalog.claimsPerDay(in: other) == 20)
      #expect(!catalog.isAnonymous("$1", in: other))
    }
  }

  @Test("R68: an app sets its chains per account; the default is 10,000")
  func chains() throws {
    for (field, chains) in [
      ("", 10_000), ("\n    chains_per_account: 1", 1),
      ("\n    chains_per_account: 100000", 100_000),
    ] {
      let text = Self.valid.replacing("link_policy: keep", with: "link_policy: keep\(field)")
      let catalog = try CatalogFile.parse(text).catalog
      let scope = AppScope(bundleID: "com.example.notes", environment: .sandbox)
      #expect(catalog.chainsPerAccount(in: scope) == chains)
      let other = AppScope(bundleID: "com.example.scribe", environment: .sandbox)
      #expect(catalog.chainsPerAccount(in: other) == 10_000)
    }
  }

  @Test("R44: account ids are compared byte by byte")
  func prefixBytes() {
    let scope = AppScope(bundleID: "com.example.notes", environment: .sandbox)
    let catalog = Catalog(
      apps: [
        CatalogApp(bundleID: "com.example.notes", anonymousPrefix: "caf\u{e9}:")
      ], entitlements: [], products: [])
    #expect(catalog.isAnonymous("caf\u{e9}:1", in: scope))
    #expect(!catalog.isAnonymous("cafe\u{301}:1", in: scope))
  }

  /// A line of the valid file, its replacement, and the expected issue.
  static let broken: [(String, String, Int, Int, String, String)] = [
    (
      "link_policy: keep", "link_policy: never", 11, 18, "apps[1].link_policy",
      "unknown policy; allowed: transfer, transfer_if_inactive, keep"
    ),
    ("link_policy: keep", "link_policy: [keep]", 11, 18, "apps[1].link_policy", "mapping"),
    (
      "link_policy: keep", "link_policy: {Production: keep}", 11, 19,
      "apps[1].link_policy.Production", "does not accept this environment; allowed: Sandbox, Xcode"
    ),
    (
      "link_policy: keep", "claims_per_day: 0", 11, 21, "apps[1].claims_per_day",
      "an integer from 1 to 1000000 is expected"
    ),
    (
      "link_policy: keep", "claims_per_day: 1000001", 11, 21, "apps[1].claims_per_day",
      "an integer from 1 to 1000000 is expected"
    ),
    (
      "link_policy: keep", "claims_per_purchase: 0", 11, 26, "apps[1].claims_per_purchase",
      "an integer from 1 to 50 is expected"
    ),
    (
      "link_policy: keep", "claims_per_purchase: 51", 11, 26, "apps[1].claims_per_purchase",
      "an integer from 1 to 50 is expected"
    ),
    (
      "link_policy: keep", "chains_per_account: 0", 11, 25, "apps[1].chains_per_account",
      "an integer from 1 to 100000 is expected"
    ),
    (
      "link_policy: keep", "chains_per_account: 100001", 11, 25, "apps[1].chains_per_account",
      "an integer from 1 to 100000 is expected"
    ),
    (
      "link_policy: keep", "anonymous_prefix: \"\"", 11, 23, "apps[1].anonymous_prefix",
      "1 to 64 bytes"
    ),
    (
      "link_policy: keep", "anonymous_prefix: \"a b\"", 11, 23, "apps[1].anonymous_prefix",
      "without blanks"
    ),
    (
      "link_policy: keep", "anonymous_prefix: \(String(repeating: "a", count: 65))", 11, 23,
      "apps[1].anonymous_prefix", "1 to 64 bytes"
    ),
    (
      "link_policy: keep", "anonymous_prefix: [a]", 11, 23, "apps[1].anonymous_prefix",
      "text is expected"
    ),
    (
      "link_policy: keep", "learned_hints: no", 11, 20, "apps[1].learned_hints",
      "unknown policy; allowed: use, ignore"
    ),
    (
      "link_policy: keep", "account_token_namespace: 6ba7b810", 11, 30,
      "apps[1].account_token_namespace", "a UUID is expected"
    ),
    (
      "link_policy: keep", "archived_responses: yes", 11, 25, "apps[1].archived_responses",
      "unknown policy; allowed: refuse, accept"
    ),
    (
      "link_policy: keep", "archived_responses: [accept]", 11, 25, "apps[1].archived_responses",
      "unknown policy; allowed: refuse, accept"
    ),
    (
      "link_policy: keep", "archive: accept", 11, 5, "apps[1].archive",
      "unknown field; allowed: bundle_id, app_apple_id, environments, link_policy, "
        + "claims_per_day, claims_per_purchase, chains_per_account, anonymous_prefix, archived_responses, "
        + "learned_hints, account_token_namespace"
    ),
    (
      "Sandbox: transfer_if", "Moon: transfer_if", 8, 7, "apps[0].link_policy.Moon", "allowed: Prod"
    ),
    (
      "Production: keep", "Production: sometimes", 7, 19, "apps[0].link_policy.Production",
      "unknown policy"
    ),
    ("- id: early", "- id: paid-era", 28, 9, "grandfathering[1].id", "twice"),
    ("- id: early", "- name: early", 28, 5, "grandfathering[1].id", "missing"),
    (
      "- id: early", "- id: early\n    until: x", 29, 5, "grandfathering[1].until",
      "unknown field; allowed: id, bundle_id, entitlements, original_version_before, compare, "
        + "original_purchase_date_before, on_conflict, simulated"
    ),
    (
      "- id: early\n    bundle_id: com.example.scribe", "- id: early\n    bundle_id: com.other", 29,
      16, "grandfathering[1].bundle_id", "declare it under apps"
    ),
    ("[pro, basic]", "[pro, gold]", 18, 25, "grandfathering[0].entitlements[1]", "gold"),
    ("[pro, basic]", "[]", 18, 19, "grandfathering[0].entitlements", "at least one"),
    (
      "    entitlements: [pro, basic]\n", "", 16, 5, "grandfathering[0].entitlements",
      "at least one"
    ),
    (
      "iOS: \"108\"", "iOS: 108b", 20, 12, "grandfathering[0].original_version_before.iOS",
      "whole numbers"
    ),
    (
      "iOS: \"108\"", "iPadOS: \"108\"", 20, 7, "grandfathering[0].original_version_before.iPadOS",
      "allowed: iOS (for iPadOS and watchOS, too), macOS, tvOS, visionOS"
    ),
    (
      "compare: leading_component", "compare: major", 22, 14, "grandfathering[0].compare",
      "allowed: full, leading_component"
    ),
    (
      "2024-03-01T00:00:00+01:00", "2024-03-01", 23, 36,
      "grandfathering[0].original_purchase_date_before", "2024-03-01T00:00:00Z"
    ),
    (
      "2024-03-01T00:00:00+01:00", "1709247600", 23, 36,
      "grandfathering[0].original_purchase_date_before", "numbers are milliseconds"
    ),
    (
      "on_conflict: prefer_date", "on_conflict: deny", 24, 18, "grandfathering[0].on_conflict",
      "allowed: grant_and_flag, prefer_date, prefer_version"
    ),
    (
      "original_version: \"50\"", "original_version: new", 26, 25,
      "grandfathering[0].simulated.original_version", "whole numbers"
    ),
    (
      "original_purchase_date: 1700000000000", "original_purchase_date: {}", 27, 31,
      "grandfathering[0].simulated.original_purchase_date", "a moment"
    ),
    (
      "original_version: \"50\"", "version: \"50\"", 26, 7, "grandfathering[0].simulated.version",
      "unknown field"
    ),
    (
      "    original_purchase_date_before: \"2020-01-01T00:00:00Z\"", "    simulated: {}", 28, 5,
      "grandfathering[1]", "original_version_before, original_purchase_date_before or both"
    ),
    (
      "    original_purchase_date_before: \"2020-01-01T00:00:00Z\"", "    simulated: {}", 31, 16,
      "grandfathering[1].simulated", "or both are needed"
    ),
    (
      "    original_purchase_date_before: \"2020-01-01T00:00:00Z\"",
      "    original_version_before: \"2.0\"", 31, 30, "grandfathering[1].original_version_before",
      "a mapping of platforms"
    ),
    (
      "    original_purchase_date_before: \"2020-01-01T00:00:00Z\"",
      "    original_version_before: {}", 31, 30, "grandfathering[1].original_version_before",
      "at least one platform"
    ),
  ]

  @Test("Each error names its position, its field and the allowed values", arguments: broken)
  func rejected(
    line: String, instead: String, at number: Int, column: Int, field: String, message: String
  ) throws {
    #expect(Self.valid.contains(line))
    let text = Self.valid.replacing(line, with: instead)
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    let issue = try #require(
      error?.issues.first { $0.field == field && $0.severity == .error },
      "\(String(describing: error))")
    #expect(issue.line == number, "\(issue)")
    #expect(issue.column == column, "\(issue), column \(issue.column)")
    #expect(issue.message.contains(message), "\(issue)")
  }

  @Test(
    "R40: an iOS, tvOS or visionOS threshold like a marketing version gives a warning",
    arguments: [
      ("iOS", "2.0", true), ("tvOS", "10.4.1", true), ("visionOS", "1.0", true),
      ("iOS", "99.99", true), ("macOS", "2.0", false), ("iOS", "2", false), ("iOS", "108", false),
      ("iOS", "108.1", false), ("iOS", "1.0.108", false), ("iOS", "1.2.3.4", false),
      ("iOS", "2024.03.1", false),
    ])
  func marketingVersion(platform: String, version: String, isWarned: Bool) throws {
    let text = Self.valid.replacing("compare: leading_component", with: "compare: full")
      .replacing("      macOS: \"2.0\"\n", with: "")
      .replacing("iOS: \"108\"\n", with: "\(platform): \"\(version)\"\n")
    let warnings = try CatalogFile.parse(text).warnings
    #expect(warnings.count == (isWarned ? 1 : 0))
    guard let warning = warnings.first else { return }
    #expect(warning.field == "grandfathering[0].original_version_before.\(platform)")
    #expect(warning.line == 20)
    #expect(warning.message.contains("build number"))
    #expect(warning.message.contains("R40"))
  }

  @Test("R40: a rule without a cutoff gives a warning")
  func noCutoff() throws {
    let text = Self.valid.replacing(
      "    original_purchase_date_before: 2024-03-01T00:00:00+01:00\n", with: "")
    let warnings = try CatalogFile.parse(text).warnings
    #expect(warnings.map(\.field) == ["grandfathering[0].original_purchase_date_before"])
    #expect(warnings.map(\.line) == [16])
  }

  @Test("R34: a threshold of which only a part is compared gives a warning")
  func leadingComponent() throws {
    let warnings = try CatalogFile.parse(Self.valid.replacing("\"108\"", with: "\"108.2\""))
      .warnings
    #expect(warnings.map(\.field) == ["grandfathering[0].original_version_before.iOS"])
    #expect(warnings.first?.message.contains("compared: 108") == true)
  }

  @Test("Errors and warnings are reported at once, in the order of the file")
  func allAtOnce() {
    var text = Self.valid
    for (line, instead) in [
      ("link_policy: keep", "link_policy: never"), ("iOS: \"108\"", "iOS: \"10.8\""),
      ("on_conflict: prefer_date", "on_conflict: deny"),
      ("entitlements: [basic]", "entitlements: []"),
    ] {
      text = text.replacing(line, with: instead)
    }
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.map(\.line) == [11, 20, 20, 24, 30])
    #expect(error?.issues.map(\.severity) == [.error, .warning, .warning, .error, .error])
  }
}
