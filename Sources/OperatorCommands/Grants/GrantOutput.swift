import EntitlementDomain
import JSONDocuments
import Wire

/// Grants, and what became of one.
enum GrantOutput {
  /// What a call did to a grant, in JSON: a contract.
  private struct Document: Encodable {
    let grant: GrantDocument
    let changed: Bool
    let revision: Int64
  }

  static func write(_ response: GrantResponse, to output: OutputOptions) throws {
    let document = Document(
      grant: GrantDocument(response.grant), changed: response.isChanged,
      revision: response.revision)
    try output.write(document) { _ in table([response.grant]) }
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
