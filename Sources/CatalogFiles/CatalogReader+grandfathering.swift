import EntitlementDomain
import YAMLFiles

// Grandfathering rules (R33–R40).
extension CatalogReader {
  mutating func readGrandfatheringRule(_ node: YAMLNode, at path: String) {
    guard
      var fields = fields(
        of: node, at: path,
        allowed: [
          "id", "bundle_id", "entitlements", "original_version_before", "compare",
          "original_purchase_date_before", "on_conflict", "simulated",
        ])
    else { return }
    let idNode = fields.take("id")
    let id = identifier(idNode, at: path + ".id", in: node)
    let bundleID = appOfRule(fields.take("bundle_id"), at: path + ".bundle_id", in: node)
    let conferredNode = fields.take("entitlements")
    let conferred = entitlementIDs(conferredNode, at: path + ".entitlements")
    if conferredNode?.sequence?.isEmpty ?? true {
      report("at least one is needed", at: path + ".entitlements", conferredNode ?? node)
    }
    let comparison = fields.take("compare").flatMap {
      choice($0, of: VersionComparison.self, "comparison", at: path + ".compare")
    }
    let comparesLeadingComponentOnly = comparison == .leadingComponent
    let versionNode = fields.take("original_version_before")
    let thresholds = thresholds(
      versionNode, at: path + ".original_version_before",
      comparesLeadingComponentOnly: comparesLeadingComponentOnly)
    let dateNode = fields.take("original_purchase_date_before")
    let cutoff = dateNode.flatMap { moment($0, at: path + ".original_purchase_date_before") }
    if versionNode == nil, dateNode == nil {
      report(
        "original_version_before, original_purchase_date_before or both are needed", at: path, node)
    } else if dateNode == nil {
      report(
        "missing; without it the version is not checked against a date (R40)",
        at: path + ".original_purchase_date_before", node, severity: .warning)
    }
    let policy = fields.take("on_conflict").flatMap {
      choice(
        $0, of: GrandfatheringRule.ConflictPolicy.self, "policy", at: path + ".on_conflict")
    }
    let simulated = simulated(fields.take("simulated"), at: path + ".simulated")
    guard let id, let bundleID else { return }
    let rule = GrandfatheringRule(
      id: GrandfatheringRuleID(id), bundleID: bundleID, entitlements: conferred,
      thresholds: thresholds, comparesLeadingComponentOnly: comparesLeadingComponentOnly,
      cutoff: cutoff, conflictPolicy: policy ?? .grantAndFlag, simulated: simulated)
    if !grandfatheringRuleIDs.insert(rule.id).inserted {
      report("named twice", at: path + ".id", idNode ?? node)
    }
    catalog.grandfathering[bundleID, default: []].append(rule)
  }

  private enum VersionComparison: String, CaseIterable {
    case full
    case leadingComponent = "leading_component"
  }

  mutating func appOfRule(
    _ node: YAMLNode?, at path: String, in parent: YAMLNode
  ) -> BundleID? {
    guard let id = identifier(node, at: path, in: parent).map({ BundleID($0) }) else { return nil }
    if catalog.apps[id] == nil {
      report("no app has the bundle id \(id); declare it under apps", at: path, node ?? parent)
    }
    return id
  }

  private mutating func thresholds(
    _ node: YAMLNode?, at path: String, comparesLeadingComponentOnly: Bool
  ) -> [AppPlatform: AppVersion] {
    guard let node else { return [:] }
    guard let entries = node.mapping else {
      report(
        "a mapping of platforms to versions, such as iOS: \"108\", is expected", at: path, node)
      return [:]
    }
    if entries.isEmpty { report("at least one platform is needed", at: path, node) }
    var thresholds: [AppPlatform: AppVersion] = [:]
    for entry in entries {
      let field = YAMLPath.field(entry.key, at: path)
      guard let platform = AppPlatform(rawValue: entry.key) else {
        report(
          "unknown platform; allowed: iOS (for iPadOS and watchOS, too), macOS, tvOS, visionOS",
          at: field, entry.keyPosition)
        continue
      }
      guard let version = version(entry.value, at: field) else { continue }
      if platform != .macOS, Self.looksLikeMarketingVersion(entry.value.scalar ?? "") {
        report(
          "this looks like a marketing version; on \(platform.rawValue) the App Store reports the "
            + "build number, such as 108 (R33, R40)",
          at: field, entry.value, severity: .warning)
      }
      if comparesLeadingComponentOnly, version != version.leadingComponent {
        report(
          "only its leading component is compared: \(version.leadingComponent)", at: field,
          entry.value, severity: .warning)
      }
      thresholds[platform] = version
    }
    return thresholds
  }

  /// Whether a text has two or three numbers of at most two digits each, such as 2.0 or 10.4.1.
  /// Build numbers have one number, or larger ones.
  private static func looksLikeMarketingVersion(_ text: String) -> Bool {
    let components = text.utf8.split(separator: UInt8(ascii: "."))
    return (2...3).contains(components.count) && components.allSatisfy { $0.count <= 2 }
  }

  private mutating func version(_ node: YAMLNode, at path: String) -> AppVersion? {
    if let version = node.scalar.flatMap({ AppVersion($0) }) { return version }
    report(
      "whole numbers with dots between them, such as 108 or 2.0.1, are expected", at: path, node)
    return nil
  }

  /// Reads the simulated values for Sandbox (R35).
  private mutating func simulated(
    _ node: YAMLNode?, at path: String
  ) -> GrandfatheringRule.Simulated? {
    guard let node,
      var fields = fields(
        of: node, at: path, allowed: ["original_version", "original_purchase_date"])
    else { return nil }
    let versionNode = fields.take("original_version")
    let dateNode = fields.take("original_purchase_date")
    if versionNode == nil, dateNode == nil {
      report("original_version, original_purchase_date or both are needed", at: path, node)
    }
    return GrandfatheringRule.Simulated(
      originalVersion: versionNode.flatMap { version($0, at: path + ".original_version") },
      originalPurchaseDate: dateNode.flatMap { moment($0, at: path + ".original_purchase_date") })
  }
}
