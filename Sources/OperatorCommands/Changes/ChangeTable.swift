import EntitlementDomain
import Wire

/// Entries of the change feed for people, one a line.
enum ChangeTable {
  static func text(of changes: [ChangeEntry]) -> String {
    var table = TextTable(header: ["SEQUENCE", "TIME", "CUSTOMER", "WHAT", "EVENTS"])
    for change in changes {
      table.add([
        "\(change.sequence)", change.committedAt.display, change.subject?.display ?? "-",
        what(of: change), change.events.cell,
      ])
    }
    return table.text
  }

  private static func what(of change: ChangeEntry) -> String {
    let kinds = [
      ("facts", change.hasFacts), ("linked", change.isLinked), ("unlinked", change.isUnlinked),
      ("grants", change.hasGrants), ("merged", change.isMerged), ("deleted", change.isDeleted),
    ]
    let names = kinds.filter(\.1).map(\.0)
    return names.isEmpty ? "-" : names.joined(separator: ", ")
  }
}
