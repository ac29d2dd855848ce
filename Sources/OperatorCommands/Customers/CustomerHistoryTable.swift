import EntitlementDomain
import Wire

/// What happened to an account for people, one line each.
enum CustomerHistoryTable {
  static func text(of entries: [CustomerHistoryEntry]) -> String {
    var table = TextTable(header: ["TIME", "WHAT", "DETAILS", "BY", "NOTE"])
    for entry in entries { table.add([entry.at.display] + cells(of: entry.occurrence)) }
    return table.text
  }

  private static func cells(of occurrence: CustomerHistoryEntry.Occurrence) -> [String] {
    switch occurrence {
    case .link(let link):
      [
        "link: \(LinkTable.name(of: link.reason))",
        "\(link.target.display): \(LinkTable.from(link)) to \(LinkTable.to(link))",
        link.author ?? "-", link.note ?? "-",
      ]
    case .grant(let grant):
      [
        "grant",
        "\(grant.entitlementID), grant \(grant.id), until \(grant.expires?.display ?? "-")",
        grant.author, grant.reason,
      ]
    case .grantWithdrawal(let grant):
      [
        "grant withdrawn", "\(grant.entitlementID), grant \(grant.id)",
        grant.withdrawal?.author ?? "-", grant.withdrawal?.reason ?? "-",
      ]
    case .notification(let notification):
      [
        "notification",
        notification.type + (notification.subtype.map { " (\($0))" } ?? "")
          + ", \(notification.notificationUUID)",
        "-", "-",
      ]
    }
  }
}
