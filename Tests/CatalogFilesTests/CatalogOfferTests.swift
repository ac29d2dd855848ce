import CatalogFiles
import EntitlementDomain
import Testing

@Suite("Offers in catalog files")
struct CatalogOfferTests {
  private static let valid = """
    version: 1
    apps:
      - bundle_id: com.example.scribe
        environments: [Sandbox]
    products:
      - id: pro.monthly
        type: auto_renewable
        group: "1"
        offers:
          - kind: promotional
            id: back-for-half
            for: [lapsed, refunded]
            lapsed_for: P30D
            times: unlimited
            again_after: P1Y
          - kind: promotional
            id: stay
            for: [active, cancelled, in_billing_trouble, new]
            only_if_trial_unused: true
          - kind: introductory
            for: [new, lapsed]
            overrides: [allow, deny]
          - id: a-few
            kind: promotional
            for:
              - cancelled
            times: 3
      - id: season
        type: non_renewing
        duration: P3M
    """

  @Test("A valid file gives its offers, the introductory one first, then by id (R82)")
  func accepted() throws {
    let contents = try CatalogFile.parse(Self.valid)
    #expect(contents.warnings.isEmpty)
    let product = try #require(contents.catalog.products["pro.monthly"])
    #expect(
      product.offers == [
        CatalogOffer(
          kind: .introductory, situations: [.new, .lapsed], overrides: [.allow, .deny]),
        CatalogOffer(id: "a-few", kind: .promotional, situations: [.cancelled], times: 3),
        CatalogOffer(
          id: "back-for-half", kind: .promotional, situations: [.lapsed, .refunded],
          lapsedFor: CalendarDuration(days: 30), times: nil,
          againAfter: CalendarDuration(months: 12)),
        CatalogOffer(
          id: "stay", kind: .promotional,
          situations: [.active, .cancelled, .inBillingTrouble, .new], onlyIfTrialUnused: true),
      ])
    #expect(product.bundleID == nil)
    #expect(
      contents.catalog.productsWithOffers(of: "com.example.scribe").map(\.id) == ["pro.monthly"])
    #expect(contents.catalog.productsWithOffers(of: "com.example.other").isEmpty)
  }

  @Test("Where there are several apps, offers belong to the one that the product names")
  func severalApps() throws {
    let apps = Self.valid.replacing(
      "products:",
      with: "  - bundle_id: com.example.notes\n    environments: [Sandbox]\nproducts:")
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(apps) }
    #expect(
      error?.issues.map(\.description) == [
        "line 12, products[0].bundle_id: error: missing; the catalog has several apps, and offers "
          + "belong to one of them"
      ])
    let named = apps.replacing(
      "group: \"1\"", with: "group: \"1\"\n    bundle_id: com.example.notes")
    let catalog = try CatalogFile.parse(named).catalog
    #expect(catalog.productsWithOffers(of: "com.example.notes").map(\.id) == ["pro.monthly"])
    #expect(catalog.productsWithOffers(of: "com.example.scribe").isEmpty)
  }

  /// A change of the valid file, and the only issue that it causes.
  static let mistakes: [(String, String, String)] = [
    (
      "kind: introductory", "kind: trial",
      "line 20, products[0].offers[2].kind: error: unknown kind; allowed: promotional, introductory"
    ),
    (
      "kind: introductory\n        ", "",
      "line 20, products[0].offers[2].kind: error: missing; allowed: promotional, introductory"
    ),
    ("id: stay\n        ", "", "line 16, products[0].offers[1].id: error: missing"),
    (
      "id: stay", "id: \"a b\"",
      "line 17, products[0].offers[1].id: error: an identifier has 1 to 255 bytes, without blanks and control characters"
    ),
    (
      "id: stay", "id: \"a\\u2063b\"",
      "line 17, products[0].offers[1].id: error: must not contain U+2063, which separates the fields of a signature"
    ),
    ("id: stay", "id: a-few", "line 23, products[0].offers[3].id: error: named twice"),
    (
      "for: [lapsed, refunded]", "for: []",
      "line 12, products[0].offers[0].for: error: at least one is needed"
    ),
    (
      "for: [lapsed, refunded]", "for: [lapsed, lapsed]",
      "line 12, products[0].offers[0].for[1]: error: named twice"
    ),
    (
      "for: [lapsed, refunded]", "for: [lapsed, expired]",
      "line 12, products[0].offers[0].for[1]: error: unknown situation; allowed: new, active, cancelled, in_billing_trouble, lapsed, refunded"
    ),
    (
      "for: [lapsed, refunded]", "for: [active]",
      "line 13, products[0].offers[0].lapsed_for: error: needs lapsed or refunded under for"
    ),
    (
      "lapsed_for: P30D", "lapsed_for: P0D",
      "line 13, products[0].offers[0].lapsed_for: error: a duration greater than zero is expected"
    ),
    (
      "lapsed_for: P30D", "lapsed_for: 30 days",
      "line 13, products[0].offers[0].lapsed_for: error: an ISO 8601 duration such as P1M, P90D or PT72H is expected"
    ),
    (
      "times: unlimited", "times: 0",
      "line 14, products[0].offers[0].times: error: unlimited, or an integer from 1 to 1000, is expected"
    ),
    (
      "times: unlimited", "times: 1",
      "line 15, products[0].offers[0].again_after: error: needs times: unlimited, or more than 1"
    ),
    (
      "only_if_trial_unused: true", "only_if_trial_unused: yes",
      "line 19, products[0].offers[1].only_if_trial_unused: error: true or false is expected"
    ),
    (
      "only_if_trial_unused: true", "overrides: [deny]",
      "line 19, products[0].offers[1].overrides: error: allowed only for introductory offers"
    ),
    (
      "only_if_trial_unused: true", "price: 1",
      "line 19, products[0].offers[1].price: error: unknown field; allowed: id, kind, for, lapsed_for, only_if_trial_unused, times, again_after, overrides"
    ),
    (
      "for: [new, lapsed]", "for: [new, active]",
      "line 20, products[0].offers[2].for: error: Apple gives introductory offers to new and lapsed subscribers only, not to those that are active"
    ),
    (
      "for: [new, lapsed]", "for: [new]\n        id: x",
      "line 22, products[0].offers[2].id: error: allowed only for promotional offers"
    ),
    (
      "for: [new, lapsed]", "for: [new]\n        times: 2",
      "line 22, products[0].offers[2].times: error: allowed only for promotional offers"
    ),
    (
      "overrides: [allow, deny]", "overrides: [allow, always]",
      "line 22, products[0].offers[2].overrides[1]: error: unknown override; allowed: allow, deny"
    ),
    (
      "overrides: [allow, deny]", "overrides: [deny, deny]",
      "line 22, products[0].offers[2].overrides[1]: error: named twice"
    ),
    (
      "duration: P3M", "duration: P3M\n    offers: [{kind: introductory, for: [new]}]",
      "line 31, products[1].offers: error: allowed only for products of type auto_renewable"
    ),
    (
      "duration: P3M", "duration: P3M\n    bundle_id: com.example.scribe",
      "line 31, products[1].bundle_id: error: allowed only for products of type auto_renewable"
    ),
    (
      "group: \"1\"", "group: \"1\"\n    bundle_id: com.example.other",
      "line 9, products[0].bundle_id: error: no app has the bundle id com.example.other; declare it under apps"
    ),
    (
      "overrides: [allow, deny]", "overrides: [deny]\n      - {kind: introductory, for: [new]}",
      "line 23, products[0].offers[3]: error: a product has one introductory offer"
    ),
  ]

  @Test("A mistake is reported with its line and field", arguments: mistakes)
  func refused(part: String, replacement: String, issue: String) throws {
    let text = Self.valid.replacing(part, with: replacement)
    #expect(text != Self.valid)
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.map(\.description) == [issue])
  }

  @Test("A product with offers needs an id without the separator of signatures")
  func productID() throws {
    let text = Self.valid.replacing("id: pro.monthly", with: "id: \"pro\\u2063monthly\"")
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.map(\.field) == ["products[0].id"])
  }

  @Test("The number of offers is limited")
  func many() throws {
    func file(_ count: Int) -> String {
      """
      version: 1
      apps: [{bundle_id: com.example.scribe, environments: [Sandbox]}]
      products:
        - id: pro.monthly
          type: auto_renewable
          group: "1"
          offers:

      """ + (0..<count).map { "      - {kind: promotional, id: o\($0), for: [lapsed]}\n" }.joined()
    }
    let limit = CatalogOffer.maximumCount
    #expect(try CatalogFile.parse(file(limit)).catalog.products.values.first?.offers.count == limit)
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(file(limit + 1)) }
    #expect(error?.issues.map(\.message) == ["the catalog has more than 1000 offers"])
  }
}
