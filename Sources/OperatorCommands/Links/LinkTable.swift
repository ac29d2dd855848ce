import EntitlementDomain
import Wire

/// Links and their history as tables, one line an entry.
enum LinkTable {
  static func links(_ links: [AccountLink]) -> String {
    var table = TextTable(header: ["WHAT", "SINCE", "REASON", "SIGNED", "CONTESTED"])
    for link in links {
      table.add([
        link.target.display, link.since.display, name(of: link.reason),
        link.isUnsigned ? "no" : "yes", link.isContested ? "yes" : "no",
      ])
    }
    return table.text
  }

  static func tokens(_ tokens: [AccountToken]) -> String {
    var table = TextTable(header: ["TOKEN", "STATE", "ACCOUNT", "SINCE", "AUTHOR", "REASON"])
    for token in tokens {
      table.add([
        token.appAccountToken.rawValue, token.state.map { wireName($0) } ?? "-",
        token.accountID?.rawValue ?? "-", token.since?.display ?? "-",
        AuthorText.text(token.author, onBehalfOf: token.onBehalfOf), token.reason ?? "-",
      ])
    }
    return table.text
  }

  static func history(_ events: [LinkHistoryEntry]) -> String {
    var table = TextTable(header: ["TIME", "WHAT", "FROM", "TO", "REASON", "AUTHOR", "NOTE"])
    for event in events {
      table.add([
        event.at.display, event.target.display, from(event), to(event), name(of: event.reason),
        AuthorText.text(event.author, onBehalfOf: event.onBehalfOf), event.note ?? "-",
      ])
    }
    return table.text
  }

  static func resolved(_ subject: SubmittedCustomer.Subject, revision: Int64) -> String {
    var table = TextTable(header: ["CUSTOMER", "REVISION"])
    table.add([subject.display, "\(revision)"])
    return table.text
  }

  /// The previous account: `(deleted)` for a deleted account, `-` for none.
  static func from(_ event: LinkHistoryEntry) -> String {
    event.fromAccountID?.rawValue ?? (event.isFromDeleted ? deleted : "-")
  }

  /// The new account, in the same form.
  static func to(_ event: LinkHistoryEntry) -> String {
    event.toAccountID?.rawValue ?? (event.isToDeleted ? deleted : "-")
  }

  /// The reason's name; `-` for a reason that this version does not know.
  static func name(of reason: LinkReason?) -> String {
    reason.map { wireName($0) } ?? "-"
  }

  private static let deleted = "(deleted)"
}

/// The result of a change of links.
enum LinkOutput {
  static func write(_ response: LinkResponse, to output: OutputOptions) throws {
    try output.write(response, table: text)
  }

  /// The chains and app transactions that changed accounts, then the affected customers.
  static func text(of response: LinkResponse) -> String {
    var customers = TextTable(header: ["CUSTOMER", "REVISION"])
    for customer in response.customers {
      customers.add([customer.subject.display, "\(customer.revision)"])
    }
    if response.targets.isEmpty { return customers.text }
    var targets = TextTable(header: ["CHANGED HANDS"])
    for target in response.targets { targets.add([target.display]) }
    return targets.text + "\n\n" + customers.text
  }
}

extension SubmittedCustomer.Subject {
  /// Human-readable: `customer-1`, `chain 2000000000000001`.
  var display: String {
    switch self {
    case .account(let id): id.rawValue
    case .unlinkedChain(let id): "chain \(id)"
    }
  }
}
