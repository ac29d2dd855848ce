import EntitlementDomain
import Wire

/// Entries of the change feed for people, one a line.
enum ChangeTable {
  static func text(of changes: [ChangeEntry]) -> String {
    var table = TextTable(header: ["SEQUENCE", "TIME", "CUSTOMER", "WHAT", "EVENTS"])
    for change in changes {
      table.add([
        "\(change.sequence)", change.committedAt.display, customer(of: change),
        what(of: change), change.events.cell,
      ])
    }
    return table.text
  }

  private static func customer(of change: ChangeEntry) -> String {
    switch change.subject {
    case .account(let id): id.rawValue
    case .unlinkedChain(let id): "chain \(id)"
    case nil: "-"
    }
  }

  private static func what(of change: ChangeEntry) -> String {
    let kinds = [
      ("facts", change.hasFacts), ("linked", change.isLinked), ("unlinked", change.isUnlinked),
      ("grants", change.hasGrants),
    ]
    let names = kinds.filter(\.1).map(\.0)
    return names.isEmpty ? "-" : names.joined(separator: ", ")
  }
}
