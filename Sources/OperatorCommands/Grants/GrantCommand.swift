import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct GrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Grants: entitlements given outside the App Store.",
    discussion: """
      A grant confers an entitlement on an account for a time. It does not affect purchases: \
      withdrawing it leaves everything that a purchase confers.
      """,
    subcommands: [GrantAddCommand.self, GrantWithdrawCommand.self, GrantListCommand.self])
}

struct GrantWithdrawCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "withdraw", abstract: "Withdraws a grant.",
    discussion: """
      Asks for confirmation; --yes skips the question. The grant is kept, with the author and the \
      reason of the withdrawal. A grant that was withdrawn before does not change. Exit code 2 \
      when there is no such grant.
      """)

  @Argument(help: "The grant's id.")
  var id: String

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    try confirmation.confirm("Withdraw grant \(id) of \(scope.display)?")
    let request = WithdrawGrantRequest(
      grantID: GrantID(id.lowercased()), scope: scope, reason: audit.reason,
      onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.withdrawGrant(request) }
    try GrantOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it was withdrawn before") }
  }
}

struct GrantListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists all grants of an account, including withdrawn ones, oldest first.")

  @Argument(help: "The account.")
  var account: String

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = ListGrantsRequest(scope: scope, accountID: AccountID(account))
    let grants = try await server.withClient { try await $0.grants(request).grants }
    try output.write(grants, table: GrantOutput.table)
  }
}

/// Grants as a table or JSON.
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
        grant.expires?.display ?? "-", withdrawal(of: grant),
        AuthorText.text(grant.author, onBehalfOf: grant.onBehalfOf), grant.reason,
      ])
    }
    return table.text
  }

  private static func withdrawal(of grant: Grant) -> String {
    guard let withdrawal = grant.withdrawal else { return "-" }
    let author = AuthorText.text(withdrawal.author, onBehalfOf: withdrawal.onBehalfOf)
    return "\(withdrawal.at.display) by \(author): \(withdrawal.reason)"
  }
}
