import EntitlementDomain
import Wire

/// Links and their history for people, one a line.
enum LinkTable {
  static func links(_ links: [AccountLink]) -> String {
    var table = TextTable(header: ["WHAT", "SINCE", "REASON", "SIGNED"])
    for link in links {
      table.add([
        link.target.display, link.since.display, name(of: link.reason),
        link.isUnsigned ? "no" : "yes",
      ])
    }
    return table.text
  }

  static func history(_ events: [LinkHistoryEntry]) -> String {
    var table = TextTable(header: ["TIME", "WHAT", "FROM", "TO", "REASON", "AUTHOR", "NOTE"])
    for event in events {
      table.add([
        event.at.display, event.target.display, from(event), to(event), name(of: event.reason),
        event.author ?? "-", event.note ?? "-",
      ])
    }
    return table.text
  }

  static func resolved(_ subject: SubmittedCustomer.Subject, revision: Int64) -> String {
    var table = TextTable(header: ["CUSTOMER", "REVISION"])
    table.add([subject.display, "\(revision)"])
    return table.text
  }

  /// Who had it before.
  static func from(_ event: LinkHistoryEntry) -> String {
    event.fromAccountID?.rawValue ?? (event.isFromDeleted ? deleted : "-")
  }

  /// Who has it since then.
  static func to(_ event: LinkHistoryEntry) -> String {
    event.toAccountID?.rawValue ?? (event.isToDeleted ? deleted : "-")
  }

  /// Of a reason that only a newer server knows too.
  static func name(of reason: LinkReason?) -> String {
    reason.map { wireName($0) } ?? "-"
  }

  private static let deleted = "(deleted)"
}
