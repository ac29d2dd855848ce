import Yams

/// Walks the YAML tree of a catalog and collects every issue on the way, so that one run tells
/// them all. What cannot be read is left out of the catalog, which is only used when no error was
/// found.
struct CatalogReader {
  private static let issueLimit = 100

  private(set) var issues: [CatalogIssue] = []
  private var catalog = Catalog()

  mutating func catalog(from root: Node) -> Catalog {
    guard
      var fields = fields(
        of: root, at: "",
        allowed: ["version", "renewal_leeway", "apps", "entitlements", "products"])
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
    return catalog
  }

  // MARK: The document's parts

  private mutating func readVersion(_ node: Node?, root: Node) {
    guard let node else {
      return report("missing; it is 1 for this form of the file", at: "version", root)
    }
    if node.scalar?.string != "1" { report("only 1 is known", at: "version", node) }
  }

  private mutating func readLeeway(_ node: Node?) {
    guard let node else { return }
    let field = "renewal_leeway"
    guard let duration = duration(node, at: field) else { return }
    let length =
      duration.days * Milliseconds.dayLength + duration.milliseconds
    guard duration.months == 0, length <= Catalog.maximumRenewalLeeway else {
      return report("at most PT72H is allowed", at: field, node)
    }
    catalog.renewalLeeway = length
  }

  private mutating func readApp(_ node: Node, at path: String) {
    guard
      var fields = fields(
        of: node, at: path, allowed: ["bundle_id", "app_apple_id", "environments"])
    else { return }
    let appAppleIDNode = fields.take("app_apple_id")
    let appAppleID = integer(appAppleIDNode, at: path + ".app_apple_id", range: 1...Int64.max)
    let environments = environments(fields.take("environments"), at: path + ".environments")
    guard let id = identifier(fields.take("bundle_id"), at: path + ".bundle_id", in: node) else {
      return
    }
    if environments.contains(.production), appAppleIDNode == nil {
      report(
        "missing; needed where Production is accepted, since Apple's signed data is checked "
          + "against it",
        at: path + ".app_apple_id", node)
    }
    let app = CatalogApp(
      bundleID: BundleID(id), appAppleID: appAppleID, environments: environments)
    guard catalog.apps.updateValue(app, forKey: app.bundleID) == nil else {
      return report("named twice", at: path + ".bundle_id", node)
    }
  }

  private mutating func environments(_ node: Node?, at path: String) -> Set<StoreEnvironment> {
    guard let node else { return [.production, .sandbox] }
    var result: Set<StoreEnvironment> = []
    if node.sequence?.isEmpty == true { report("at least one is needed", at: path, node) }
    for (index, item) in sequence(node, at: path).enumerated() {
      guard let environment = item.scalar.flatMap({ StoreEnvironment(rawValue: $0.string) }) else {
        let allowed = StoreEnvironment.allCases.map(\.rawValue).joined(separator: ", ")
        report("unknown environment; allowed: \(allowed)", at: "\(path)[\(index)]", item)
        continue
      }
      result.insert(environment)
    }
    return result
  }

  private mutating func readEntitlement(_ node: Node, at path: String) {
    guard var fields = fields(of: node, at: path, allowed: ["id", "description"]) else { return }
    let description = text(fields.take("description"), at: path + ".description")
    guard let id = identifier(fields.take("id"), at: path + ".id", in: node) else { return }
    let entitlement = CatalogEntitlement(id: EntitlementID(id), description: description)
    if catalog.entitlements.updateValue(entitlement, forKey: entitlement.id) != nil {
      report("named twice", at: path + ".id", node)
    }
  }

  private mutating func readProduct(_ node: Node, at path: String) {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: ["id", "type", "group", "level", "duration", "stacking", "entitlements"])
    else { return }
    let id = identifier(fields.take("id"), at: path + ".id", in: node)
    let kind = kind(fields.take("type"), at: path + ".type", in: node)
    let group = fields.take("group")
    let level = fields.take("level")
    let duration = fields.take("duration")
    let stacking = fields.take("stacking")
    let conferred = entitlementIDs(fields.take("entitlements"), at: path + ".entitlements")
    guard let id, let kind else { return }

    var product = CatalogProduct(id: ProductID(id), kind: kind, entitlements: conferred)
    let isSubscription = kind == .autoRenewable
    let hasDuration = kind == .nonRenewing || kind == .consumable
    if isSubscription {
      product.group = identifier(group, at: path + ".group", in: node).map {
        SubscriptionGroupID($0)
      }
      product.level = integer(level, at: path + ".level", range: 1...1_000).map(Int.init) ?? 1
    } else {
      refuse(group, at: path + ".group", allowedFor: .autoRenewable)
      refuse(level, at: path + ".level", allowedFor: .autoRenewable)
    }
    if hasDuration {
      product.duration = duration.flatMap { positiveDuration($0, at: path + ".duration") }
      product.stacking = boolean(stacking, at: path + ".stacking") ?? false
    } else {
      refuse(duration, at: path + ".duration", allowedFor: .nonRenewing)
      refuse(stacking, at: path + ".stacking", allowedFor: .nonRenewing)
    }
    if kind == .nonRenewing, duration == nil {
      report(
        "missing; without it a purchase of this product confers nothing (R12)",
        at: path + ".duration", node, severity: .warning)
    }
    if kind == .consumable, duration == nil, !conferred.isEmpty {
      report(
        "missing; a consumable confers entitlements only for a duration (R11)",
        at: path + ".duration", node, severity: .warning)
    }
    if catalog.products.updateValue(product, forKey: product.id) != nil {
      report("named twice", at: path + ".id", node)
    }
  }

  private mutating func kind(_ node: Node?, at path: String, in parent: Node)
    -> CatalogProduct.Kind?
  {
    let allowed = CatalogProduct.Kind.allCases.map(\.rawValue).joined(separator: ", ")
    guard let node else {
      report("missing; allowed: \(allowed)", at: path, parent)
      return nil
    }
    guard let kind = node.scalar.flatMap({ CatalogProduct.Kind(rawValue: $0.string) }) else {
      report("unknown type; allowed: \(allowed)", at: path, node)
      return nil
    }
    return kind
  }

  private mutating func entitlementIDs(_ node: Node?, at path: String) -> [EntitlementID] {
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

  private mutating func refuse(
    _ node: Node?, at path: String, allowedFor kind: CatalogProduct.Kind
  ) {
    guard let node else { return }
    report("only products of type \(kind.rawValue) have it", at: path, node)
  }

  // MARK: Values

  /// The fields of a mapping, each taken once.
  private struct Fields {
    var nodes: [String: Node]
    mutating func take(_ name: String) -> Node? { nodes.removeValue(forKey: name) }
  }

  private mutating func fields(of node: Node, at path: String, allowed: [String]) -> Fields? {
    guard let mapping = node.mapping else {
      report("a mapping is expected, with the fields \(list(allowed))", at: path, node)
      return nil
    }
    var nodes: [String: Node] = [:]
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      let field = path.isEmpty ? name : "\(path).\(name)"
      if allowed.contains(name) {
        nodes[name] = value
      } else {
        report("unknown field; allowed: \(list(allowed))", at: field, key)
      }
    }
    return Fields(nodes: nodes)
  }

  private func list(_ names: [String]) -> String { names.joined(separator: ", ") }

  private mutating func sequence(_ node: Node?, at path: String, required parent: Node? = nil)
    -> [Node]
  {
    guard let node else {
      if let parent { report("missing; at least one is needed", at: path, parent) }
      return []
    }
    guard let sequence = node.sequence else {
      report("a list is expected", at: path, node)
      return []
    }
    if parent != nil, sequence.isEmpty { report("at least one is needed", at: path, node) }
    return Array(sequence)
  }

  private mutating func text(_ node: Node?, at path: String) -> String? {
    guard let node else { return nil }
    guard let scalar = node.scalar else {
      report("text is expected", at: path, node)
      return nil
    }
    return scalar.string
  }

  /// Identifiers travel in logs, tables and C strings: no blanks, no control characters, and at
  /// most 255 bytes.
  private mutating func identifier(_ node: Node?, at path: String, in parent: Node) -> String? {
    guard let node else {
      report("missing", at: path, parent)
      return nil
    }
    guard let text = text(node, at: path) else { return nil }
    let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f }
    guard !text.isEmpty, text.utf8.count <= 255, isPlain else {
      report(
        "an identifier has 1 to 255 bytes, without blanks and control characters", at: path, node)
      return nil
    }
    return text
  }

  private mutating func integer(_ node: Node?, at path: String, range: ClosedRange<Int64>)
    -> Int64?
  {
    guard let node else { return nil }
    guard let value = node.scalar.flatMap({ Int64($0.string) }), range.contains(value) else {
      let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
      report("an integer from \(range.lowerBound)\(upper) is expected", at: path, node)
      return nil
    }
    return value
  }

  private mutating func boolean(_ node: Node?, at path: String) -> Bool? {
    guard let node else { return nil }
    switch node.scalar?.string {
    case "true": return true
    case "false": return false
    default:
      report("true or false is expected", at: path, node)
      return nil
    }
  }

  private mutating func duration(_ node: Node, at path: String) -> CalendarDuration? {
    guard let duration = node.scalar.flatMap({ CalendarDuration(iso8601: $0.string) }) else {
      report("an ISO 8601 duration such as P1M, P90D or PT72H is expected", at: path, node)
      return nil
    }
    return duration
  }

  private mutating func positiveDuration(_ node: Node, at path: String) -> CalendarDuration? {
    guard let duration = duration(node, at: path) else { return nil }
    if duration == CalendarDuration() { report("longer than nothing is expected", at: path, node) }
    return duration
  }

  private mutating func report(
    _ message: String, at field: String, _ node: Node,
    severity: CatalogIssue.Severity = .error
  ) {
    // Nobody reads more, and a wrong file may have millions.
    guard issues.count < Self.issueLimit else { return }
    issues.append(
      CatalogIssue(
        severity: severity, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1,
        field: field, message: message))
  }
}
