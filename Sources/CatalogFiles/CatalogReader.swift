import EntitlementDomain
import YAMLFiles

/// Builds a catalog from the YAML tree and collects all issues. Invalid parts are left out of the
/// catalog; the catalog is used only when there is no error.
struct CatalogReader: YAMLFileReader {
  var issues = FileIssues()
  var catalog = Catalog()
  /// The ids of the rules read so far, of all apps.
  var grandfatheringRuleIDs: Set<GrandfatheringRuleID> = []
  /// The number of offers read so far, of all products.
  var offerCount = 0

  /// Reads the whole file. Apps and entitlements are read first, because the other sections refer
  /// to them.
  mutating func catalog(from root: YAMLNode) -> Catalog {
    guard
      var fields = fields(
        of: root, at: "",
        allowed: [
          "version", "renewal_leeway", "apps", "entitlements", "products", "grandfathering",
        ])
    else { return catalog }
    readVersion(fields.take("version"), root: root)
    readLeeway(fields.take("renewal_leeway"))
    let apps = sequence(fields.take("apps"), at: "apps", required: root)
    for (index, node) in apps.enumerated() { readApp(node, at: "apps[\(index)]") }
    for (index, node) in sequence(fields.take("entitlements"), at: "entitlements").enumerated() {
      readEntitlement(node, at: "entitlements[\(index)]")
    }
    for (index, node) in sequence(fields.take("products"), at: "products").enumerated() {
      readProduct(node, at: "products[\(index)]")
    }
    let rules = sequence(fields.take("grandfathering"), at: "grandfathering")
    for (index, node) in rules.enumerated() {
      readGrandfatheringRule(node, at: "grandfathering[\(index)]")
    }
    for (id, rules) in catalog.grandfathering {
      catalog.grandfathering[id] = rules.sorted { $0.id < $1.id }
    }
    return catalog
  }

  private mutating func readVersion(_ node: YAMLNode?, root: YAMLNode) {
    guard let node else {
      return report("missing; the supported version is 1", at: "version", root)
    }
    if node.scalar != "1" { report("only version 1 is supported", at: "version", node) }
  }

  private mutating func readLeeway(_ node: YAMLNode?) {
    guard let node else { return }
    let field = "renewal_leeway"
    guard let duration = duration(node, at: field) else { return }
    let length = duration.days * Milliseconds.dayLength + duration.milliseconds
    guard duration.months == 0, length <= Catalog.maximumRenewalLeeway else {
      return report("at most PT72H is allowed", at: field, node)
    }
    catalog.renewalLeeway = length
  }

  private mutating func readEntitlement(_ node: YAMLNode, at path: String) {
    guard var fields = fields(of: node, at: path, allowed: ["id", "description"]) else { return }
    let description = text(fields.take("description"), at: path + ".description")
    let idNode = fields.take("id")
    guard let id = identifier(idNode, at: path + ".id", in: node) else { return }
    let entitlement = CatalogEntitlement(id: EntitlementID(id), description: description)
    if catalog.entitlements.updateValue(entitlement, forKey: entitlement.id) != nil {
      report("named twice", at: path + ".id", idNode ?? node)
    }
  }

  /// A list of ids of declared entitlements, without duplicates, sorted.
  mutating func entitlementIDs(_ node: YAMLNode?, at path: String) -> [EntitlementID] {
    var result: Set<EntitlementID> = []
    for (index, item) in sequence(node, at: path).enumerated() {
      let field = "\(path)[\(index)]"
      guard let text = identifier(item, at: field, in: item) else { continue }
      let id = EntitlementID(text)
      if catalog.entitlements[id] == nil {
        report("no entitlement has the id \(text); declare it under entitlements", at: field, item)
      } else if !result.insert(id).inserted {
        report("named twice", at: field, item)
      }
    }
    return result.sorted()
  }
}
