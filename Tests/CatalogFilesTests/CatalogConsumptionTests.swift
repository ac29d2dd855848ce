import CatalogFiles
import EntitlementDomain
import Testing

@Suite("Consumption policies in catalog files (R87)")
struct CatalogConsumptionTests {
  private static func file(_ type: String, _ consumption: String) -> String {
    """
    version: 1
    apps:
      - {bundle_id: com.example.scribe, environments: [Sandbox]}
    products:
      - id: coins
        type: \(type)
        \(type == "auto_renewable" ? "group: \"1\"" : "entitlements: []")
        duration: \(type == "non_renewing" ? "P1M" : "")
        consumption: \(consumption)
    """.replacing("    duration: \n", with: "")
  }

  private static func policy(_ type: String, _ consumption: String) throws -> ConsumptionPolicy? {
    try CatalogFile.parse(file(type, consumption)).catalog.products["coins"]?.consumption
  }

  @Test("Policies are read, with their defaults")
  func accepted() throws {
    let rows: [(String, String, ConsumptionPolicy)] = [
      ("consumable", "{}", ConsumptionPolicy()),
      (
        "consumable",
        "{delivery_status: DELIVERED, sample_content_provided: true, refund_preference: DECLINE, "
          + "percentage: required}",
        ConsumptionPolicy(
          sampleContentProvided: true, refundPreference: .decline, percentage: .required)
      ),
      ("non_consumable", "{percentage: optional}", ConsumptionPolicy(percentage: .optional)),
      ("non_renewing", "{percentage: 42.5}", ConsumptionPolicy(percentage: .fixed(42_500))),
      (
        "consumable", "{refund_preference: GRANT_PRORATED, percentage: 0.001}",
        ConsumptionPolicy(refundPreference: .grantProrated, percentage: .fixed(1))
      ),
      (
        "consumable", "{delivery_status: UNDELIVERED_OTHER, percentage: 0}",
        ConsumptionPolicy(deliveryStatus: .other, percentage: .fixed(0))
      ),
      (
        "auto_renewable", "{refund_preference: GRANT_PRORATED}",
        ConsumptionPolicy(refundPreference: .grantProrated)
      ),
    ]
    for (type, text, policy) in rows {
      #expect(try Self.policy(type, text) == policy, "\(type): \(text)")
    }
  }

  @Test("What Apple would refuse is an error with its place")
  func refused() throws {
    let rows: [(String, String, String)] = [
      ("consumable", "[]", "products[0].consumption"),
      ("consumable", "{percent: 1}", "products[0].consumption.percent"),
      ("consumable", "{delivery_status: LOST}", "products[0].consumption.delivery_status"),
      ("consumable", "{refund_preference: NO}", "products[0].consumption.refund_preference"),
      (
        "consumable", "{sample_content_provided: 1}",
        "products[0].consumption.sample_content_provided"
      ),
      ("consumable", "{percentage: 100.001}", "products[0].consumption.percentage"),
      ("consumable", "{percentage: some}", "products[0].consumption.percentage"),
      ("auto_renewable", "{percentage: 5}", "products[0].consumption.percentage"),
      ("auto_renewable", "{percentage: required}", "products[0].consumption.percentage"),
      (
        "consumable", "{delivery_status: UNDELIVERED_OTHER, percentage: 1}",
        "products[0].consumption.percentage"
      ),
      (
        "consumable", "{delivery_status: UNDELIVERED_OTHER, percentage: required}",
        "products[0].consumption.percentage"
      ),
      (
        "consumable", "{refund_preference: GRANT_PRORATED}",
        "products[0].consumption.refund_preference"
      ),
      (
        "consumable", "{refund_preference: GRANT_PRORATED, percentage: optional}",
        "products[0].consumption.refund_preference"
      ),
      (
        "consumable", "{refund_preference: GRANT_PRORATED, percentage: 100}",
        "products[0].consumption.refund_preference"
      ),
    ]
    for (type, text, field) in rows {
      let error = #expect(throws: CatalogError.self, "\(type): \(text)") {
        try Self.policy(type, text)
      }
      let issue = error?.issues.first
      #expect(issue?.field == field, "\(type): \(text)")
      #expect((issue?.line ?? 0) >= 8, "\(type): \(text)")
    }
  }
}
