/// Walks the tree of a catalog file and collects every issue on the way. What cannot be read is
/// left out of the catalog, which is only used when no error was found.
struct CatalogReader {
  private(set) var issues = CatalogIssues()
  var catalog = Catalog()
  /// Of which a rule was read, whichever app it is for.
  var grandfatheringRuleIDs: Set<GrandfatheringRuleID> = []

  /// Apps and entitlements come first, wherever they stand in the file: the others name them.
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
      return report("missing; it is 1 for this form of the file", at: "version", root)
    }
    if node.scalar != "1" { report("only 1 is known", at: "version", node) }
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

  /// Entitlements by the ids under which the file declares them, each once, sorted.
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

  mutating func report(
    _ message: String, at field: String, _ node: YAMLNode,
    severity: CatalogIssue.Severity = .error
  ) {
    report(message, at: field, node.position, severity: severity)
  }

  mutating func report(
    _ message: String, at field: String, _ position: YAMLPosition,
    severity: CatalogIssue.Severity = .error
  ) {
    issues.add(
      CatalogIssue(
        severity: severity, line: position.line, column: position.column, field: field,
        message: message))
  }
}
