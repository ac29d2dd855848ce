import EntitlementDomain
import Wire

/// The catalog of a server for people.
enum CatalogText {
  static func text(of response: CatalogResponse) -> String {
    var lines = [
      StateTable.line("digest", response.digest),
      StateTable.line("in force since", response.inForceSince.display),
      StateTable.line("apps", "\(response.appCount)"),
      StateTable.line("products", "\(response.productCount)"),
      StateTable.line("entitlements", "\(response.entitlementCount)"),
      StateTable.line("grandfathering", "\(response.grandfatheringRuleCount)"),
    ]
    lines += issues(response.warnings)
    if let attempt = response.lastAttempt {
      let verdict =
        attempt.failure.map { "not read: \($0)" } ?? (attempt.isValid ? "valid" : "not valid")
      lines += ["", StateTable.line("last attempt", "\(attempt.at.display), \(verdict)")]
      if let digest = attempt.digest { lines.append(StateTable.line("its digest", digest)) }
      // Those of the catalog in force are told above.
      if attempt.digest != response.digest { lines += issues(attempt.issues) }
    }
    return lines.joined(separator: "\n")
  }

  private static func issues(_ issues: [CatalogIssue]) -> [String] {
    issues.map { TerminalText.visible($0.description) }
  }
}
