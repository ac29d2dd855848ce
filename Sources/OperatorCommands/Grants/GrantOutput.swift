import EntitlementDomain
import Wire

/// Grants, and what became of one.
enum GrantOutput {
  static func write(_ response: GrantResponse, to output: OutputOptions) throws {
    try output.write(response) { table([$0.grant]) }
  }

  static func table(_ grants: [Grant]) -> String {
    var table = TextTable(
      header: ["GRANT", "ENTITLEMENT", "FROM", "UNTIL", "WITHDRAWN", "AUTHOR", "REASON"])
    for grant in grants {
      table.add([
        grant.id.rawValue, grant.entitlementID.rawValue, grant.starts.display,
        grant.expires?.display ?? "-", withdrawal(of: grant), grant.author, grant.reason,
      ])
    }
    return table.text
  }

  private static func withdrawal(of grant: Grant) -> String {
    grant.withdrawal.map { "\($0.at.display) by \($0.author): \($0.reason)" } ?? "-"
  }
}
