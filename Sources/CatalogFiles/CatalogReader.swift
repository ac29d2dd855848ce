import EntitlementDomain

/// Builds a catalog from the YAML tree and collects all issues. Invalid parts are left out of the
/// catalog; the catalog is used only when there is no error.
struct CatalogReader {
  private(set) var issues = CatalogIssues()
  var catalog = Catalog()
  /// The ids of the rules read so far, of all apps.
  var grandfatheringRuleIDs: Set<GrandfatheringRuleID> = []

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

/// Collects the issues of a file, so that one run reports all.
struct CatalogIssues {
  /// The largest number of issues kept for each severity. A wrong file may have millions. The
  /// limits are separate, so that warnings do not displace errors.
  static let limit = 100

  private var errors: [CatalogIssue] = []
  private var warnings: [CatalogIssue] = []
  private var droppedCount = 0

  var hasErrors: Bool { !errors.isEmpty }

  mutating func add(_ issue: CatalogIssue) {
    let count = issue.severity == .error ? errors.count : warnings.count
    guard count < Self.limit else {
      droppedCount += 1
      return
    }
    switch issue.severity {
    case .error: errors.append(issue)
    case .warning: warnings.append(issue)
    }
  }

  /// The issues in the order of the file. If the limit dropped some, a last issue gives their
  /// number.
  var sorted: [CatalogIssue] {
    var issues = (errors + warnings).sorted {
      ($0.line, $0.column, $0.field) < ($1.line, $1.column, $1.field)
    }
    if droppedCount > 0, let last = issues.last {
      issues.append(
        CatalogIssue(
          severity: hasErrors ? .error : .warning, line: last.line, column: last.column, field: "",
          message: "\(droppedCount) more issues are not shown"))
    }
    return issues
  }
}
