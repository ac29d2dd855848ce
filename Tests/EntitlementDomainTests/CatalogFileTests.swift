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
  }

  /// A line of the valid file, what stands there instead, and the issue expected.
  static let broken: [(String, String, Int, String, String)] = [
    ("version: 1", "version: 2", 1, "version", "only 1"),
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
    ("duration: P3M", "duration: P0D", 21, "products[1].duration", "longer than nothing"),
    ("stacking: true", "stacking: yes please", 22, "products[1].stacking", "true or false"),
    (
      "type: consumable", "type: non_consumable\n    duration: P1M", 26, "products[2].duration",
      "only"
    ),
    ("id: com.example.scribe.coins", "id: \"a b\"", 24, "products[2].id", "without blanks"),
  ]

  @Test("Each error names its line, its field and what is allowed", arguments: broken)
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

  @Test("All errors are told at once, in the order of the file")
  func allAtOnce() throws {
    var text = Self.valid
    for (line, instead, _, _, _) in [Self.broken[0], Self.broken[6], Self.broken[12]] {
      text = text.replacing(line, with: instead)
    }
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.map(\.line) == [1, 6, 17])
  }

  @Test("R12: a non-renewing product without a duration is warned about")
  func warning() throws {
    let contents = try CatalogFile.parse(Self.valid.replacing("    duration: P3M\n", with: ""))
    #expect(contents.warnings.map(\.field) == ["products[1].duration"])
    #expect(contents.warnings[0].severity == .warning)
  }

  @Test(
    "What is not a catalog is refused with its place",
    arguments: ["", "- a\n- b", "version: [", "version: 1\nversion: 1", "\u{0}", "apps: {}", "42"])
  func notACatalog(text: String) {
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.isEmpty == false)
    #expect(error?.issues.allSatisfy { $0.line >= 1 } == true)
  }

  @Test("A file of more than four megabytes is refused")
  func tooLarge() {
    let text = String(repeating: "#", count: CatalogFile.maximumBytes + 1)
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.first?.message.contains("larger") == true)
  }
}
