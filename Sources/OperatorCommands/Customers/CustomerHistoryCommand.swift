import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct CustomerHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Lists the history of an account, oldest first.",
    discussion: """
      Links, grants, and Apple's notifications about its chains: at most the latest 10,000 \
      entries. For a merged account, lists the history of the account that it was merged into. \
      Exit code 2 when the account is not known.
      """)

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = GetCustomerHistoryRequest(scope: scope, accountID: AccountID(account))
    let history = try await server.withClient { try await $0.customerHistory(request) }
    MergedAccountNotice.write(of: account, answeredBy: history.accountID, "its history")
    try output.write(history) { CustomerHistoryTable.text(of: $0.entries) }
  }
}

/// An account's history as a table, one line an entry.
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
        AuthorText.text(link.author, onBehalfOf: link.onBehalfOf), link.note ?? "-",
      ]
    case .grant(let grant):
      [
        "grant",
        "\(grant.entitlementID), grant \(grant.id), until \(grant.expires?.display ?? "-")",
        AuthorText.text(grant.author, onBehalfOf: grant.onBehalfOf), grant.reason,
      ]
    case .grantWithdrawal(let grant):
      [
        "grant withdrawn", "\(grant.entitlementID), grant \(grant.id)",
        AuthorText.text(grant.withdrawal?.author, onBehalfOf: grant.withdrawal?.onBehalfOf),
        grant.withdrawal?.reason ?? "-",
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

/// Reports that an account was merged into another one.
enum MergedAccountNotice {
  /// Prints a message to stderr if the answer is about another account than the requested one.
  ///
  /// - Parameters:
  ///   - name: the requested account.
  ///   - account: the account of the answer.
  ///   - answer: what was answered, such as "its history".
  static func write(of name: String, answeredBy account: AccountID, _ answer: String) {
    if account == AccountID(name) { return }
    StandardError.write(TerminalText.escaped("\(name) was merged into \(account): \(answer)"))
  }
}
