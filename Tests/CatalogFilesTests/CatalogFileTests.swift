import CatalogFiles
import EntitlementDomain
import Testing

@Suite("Catalog files")
struct CatalogFileTests {
  private static let valid = """
    version: 1
    renewal_leeway: PT12H
    apps:
      - bundle_id: com.example.scribe
        app_apple_id: 1234567890
        environments: [Production, Sandbox]
      - bundle_id: com.example.notes
        environments: [Sandbox]
    entitlements:
      - id: pro
        description: Everything
      - id: season
    products:
      - id: com.example.scribe.pro
        type: auto_renewable
        group: "21000001"
        level: 2
        entitlements: [season, pro]
      - id: com.example.scribe.season
        type: non_renewing
        duration: P3M
        stacking: true
        entitlements: [season]
      - id: com.example.scribe.coins
        type: consumable
    """

  @Test("A valid file gives its catalog")
  func accepted() throws {
    let contents = try CatalogFile.parse(Self.valid)
    #expect(contents.warnings.isEmpty)
    let catalog = contents.catalog
    #expect(catalog.renewalLeeway == 12 * 3_600_000)
    #expect(catalog.apps["com.example.scribe"]?.appAppleID == 1_234_567_890)
    #expect(catalog.apps["com.example.notes"]?.environments == [.sandbox])
    let subscription = try #require(catalog.products["com.example.scribe.pro"])
    #expect(subscription.group == "21000001")
    #expect(subscription.level == 2)
    #expect(subscription.entitlements == ["pro", "season"])
    let season = try #require(catalog.products["com.example.scribe.season"])
    #expect(season.duration == CalendarDuration(months: 3))
    #expect(season.stacking)
    #expect(catalog.products["com.example.scribe.coins"]?.kind == .consumable)
    #expect(catalog.grandfathering.isEmpty)
    for environment in StoreEnvironment.allCases {
      let scope = AppScope(bundleID: "com.example.scribe", environment: environment)
      #expect(catalog.linkPolicy(in: scope) == .transfer)
    }
  }

  /// A line of the valid file, its replacement, and the expected issue.
  static let broken: [(String, String, Int, String, String)] = [
    ("version: 1", "version: 2", 1, "version", "only version 1"),
    ("renewal_leeway: PT12H", "renewal_leeway: PT73H", 2, "renewal_leeway", "PT72H"),
    ("renewal_leeway: PT12H", "renewal_leeway: soon", 2, "renewal_leeway", "ISO 8601"),
    ("renewal_leeway: PT12H", "leeway: PT12H", 2, "leeway", "unknown field; allowed: version"),
    ("app_apple_id: 1234567890", "app_apple_id: x", 5, "apps[0].app_apple_id", "integer"),
    (
      "    app_apple_id: 1234567890\n", "", 4, "apps[0].app_apple_id",
      "where Production is accepted"
    ),
    ("[Production, Sandbox]", "[Production, Moon]", 6, "apps[0].environments[1]", "LocalTesting"),
    ("[Sandbox]", "[]", 8, "apps[1].environments", "at least one"),
    ("com.example.notes", "com.example.scribe", 7, "apps[1].bundle_id", "twice"),
    ("- id: season", "- id: pro", 12, "entitlements[1].id", "twice"),
    ("type: auto_renewable", "type: weekly", 15, "products[0].type", "non_consumable"),
    ("    group: \"21000001\"\n", "", 14, "products[0].group", "missing"),
    ("level: 2", "level: 0", 17, "products[0].level", "1 to 1000"),
    ("[season, pro]", "[season, gold]", 18, "products[0].entitlements[1]", "gold"),
    ("duration: P3M", "duration: 3 months", 21, "products[1].duration", "ISO 8601"),
    ("duration: P3M", "duration: P0D", 21, "products[1].duration", "greater than zero"),
    ("stacking: true", "stacking: yes please", 22, "products[1].stacking", "true or false"),
    (
      "type: consumable", "type: non_consumable\n    duration: P1M", 26, "products[2].duration",
      "only"
    ),
    ("id: com.example.scribe.coins", "id: \"a b\"", 24, "products[2].id", "without blanks"),
    ("id: com.example.scribe.coins", "id: \"a\\u0085\"", 24, "products[2].id", "control"),
    ("[Production, Sandbox]", "[Sandbox, Sandbox]", 6, "apps[0].environments[1]", "twice"),
    ("type: consumable", "typ: consumable", 25, "products[2].typ", "allowed: id, type"),
    ("type: consumable", "level: 1", 24, "products[2].type", "missing; allowed: auto_renewable"),
    ("[season, pro]", "{season: pro}", 18, "products[0].entitlements", "a list"),
    ("- id: season", "- season", 12, "entitlements[1]", "a mapping is expected"),
    ("description: Everything", "description: [a]", 11, "entitlements[0].description", "text"),
    ("type: consumable", "type: {a: b}", 25, "products[2].type", "unknown type"),
    ("group: \"21000001\"", "group:", 16, "products[0].group", "1 to 255 bytes"),
    (
      "type: consumable", "type: consumable\n    group: x", 26, "products[2].group",
      "only for products of type auto_renewable"
    ),
  ]

  @Test("Each error names its line, its field and the allowed values", arguments: broken)
  func rejected(
    line: String, instead: String, at number: Int, field: String, message: String
  ) throws {
    let text = Self.valid.replacing(line, with: instead)
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    let issue = try #require(
      error?.issues.first { $0.field == field }, "\(String(describing: error))")
    #expect(issue.severity == .error)
    #expect(issue.line == number)
    #expect(issue.message.contains(message), "\(issue)")
  }

  @Test("All errors are reported at once, in the order of the file")
  func allAtOnce() throws {
    var text = Self.valid
    for (line, instead, _, _, _) in [Self.broken[0], Self.broken[6], Self.broken[12]] {
      text = text.replacing(line, with: instead)
    }
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.map(\.line) == [1, 6, 17])
  }

  @Test("Without an id, or with an unknown one, the other fields are still checked")
  func withoutID() {
    let text = """
      version: 1
      apps:
        - bundle_id: a b
      products:
        - type: auto_renewable
          level: 0
        - id: [x]
          type: non_renewing
          duration: soon
          level: 1
      """
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(
      error?.issues.filter { $0.severity == .error }.map { "\($0.line) \($0.field)" } == [
        "3 apps[0].app_apple_id", "3 apps[0].bundle_id", "5 products[0].group",
        "5 products[0].id", "6 products[0].level", "7 products[1].id", "9 products[1].duration",
        "10 products[1].level",
      ])
  }

  @Test("A duplicate id is reported at its position, also after other fields")
  func twice() {
    let text = """
      version: 1
      apps:
        - environments: [Sandbox]
          bundle_id: com.example.scribe
        - environments: [Sandbox]
          bundle_id: com.example.scribe
      entitlements:
        - id: pro
        - description: Everything
          id: pro
      products:
        - {type: consumable, id: coins}
        - type: consumable
          id: coins
      grandfathering:
        - {id: early, bundle_id: com.example.scribe, entitlements: [pro], \
      original_purchase_date_before: 2024-03-01T00:00:00Z}
        - bundle_id: com.example.scribe
          entitlements: [pro]
          original_purchase_date_before: 2024-03-01T00:00:00Z
          id: early
      """
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(
      error?.issues.map { "\($0.line) \($0.field): \($0.message)" } == [
        "6 apps[1].bundle_id: named twice", "10 entitlements[1].id: named twice",
        "14 products[1].id: named twice", "20 grandfathering[1].id: named twice",
      ])
  }

  @Test("Control characters in the name of a field are escaped in messages")
  func controlCharacters() {
    let error = #expect(throws: CatalogError.self) {
      try CatalogFile.parse(Self.valid + "\n\"a\\0b\\e[31m\\n\": x")
    }
    #expect(error?.issues.map(\.field) == [#"a\u{0}b\u{1b}[31m\u{a}"#])
  }

  @Test("R12: a non-renewing product without a duration gives a warning")
  func warning() throws {
    let contents = try CatalogFile.parse(Self.valid.replacing("    duration: P3M\n", with: ""))
    #expect(contents.warnings.map(\.field) == ["products[1].duration"])
    #expect(contents.warnings[0].severity == .warning)
  }

  @Test(
    "Texts that are not catalogs are refused with a position",
    arguments: [
      "", "- a\n- b", "version: [", "version: 1\nversion: 1", "\u{0}", "apps: {}", "42", "---",
      "version: 1", "version: 1\napps: []", "{}", "version: &a 1", "apps: &a [*a]",
    ])
  func notACatalog(text: String) {
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.isEmpty == false)
    #expect(error?.issues.allSatisfy { $0.line >= 1 } == true)
  }

  @Test("A file that is not YAML has one issue, with line and column")
  func notYAML() {
    let error = #expect(throws: CatalogError.self) {
      try CatalogFile.parse(Self.valid.replacing("level: 2", with: "level: *two"))
    }
    #expect(error?.issues.count == 1)
    #expect(error?.issues.first?.line == 17)
    #expect(error?.issues.first?.column == 12)
    #expect(error?.issues.first?.field == "")
    #expect(error?.issues.first?.message.contains("aliases") == true)
  }

  @Test("A long name of a field is truncated in messages")
  func longName() {
    let name = String(repeating: "é", count: 1_000)
    let error = #expect(throws: CatalogError.self) {
      try CatalogFile.parse(Self.valid + "\n\(name): x")
    }
    #expect(error?.issues.map(\.field) == [String(repeating: "é", count: 64) + "…"])
  }

  @Test("Warnings displace no errors, and dropped issues are counted")
  func manyIssues() throws {
    func text(products: [String]) -> String {
      "version: 1\napps: [{bundle_id: a, environments: [Sandbox]}]\nproducts:\n"
        + products.joined(separator: "\n")
    }
    let doubtful = (0..<150).map { "- {id: p\($0), type: non_renewing}" }
    let contents = try CatalogFile.parse(text(products: doubtful))
    #expect(contents.catalog.products.count == 150)
    #expect(contents.warnings.count == 101)
    #expect(contents.warnings.last?.message == "50 more issues are not shown")
    #expect(contents.warnings.allSatisfy { $0.severity == .warning })
    let error = #expect(throws: CatalogError.self) {
      try CatalogFile.parse(text(products: doubtful + ["- {id: last, type: none}"]))
    }
    #expect(
      error?.issues.filter { $0.severity == .error }.map(\.field) == ["products[150].type", ""])
  }

  @Test("A file of more than four megabytes is refused")
  func tooLarge() {
    let text = String(repeating: "#", count: CatalogFile.maximumBytes + 1)
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.first?.message.contains("larger") == true)
  }
}
