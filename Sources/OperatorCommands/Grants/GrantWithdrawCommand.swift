import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct GrantWithdrawCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "withdraw", abstract: "Ends a grant before its time.",
    discussion: """
      Asks first; --yes answers for a script. The grant is kept, with who withdrew it and why. One \
      that was withdrawn before stays as it is. Exit code 2 when there is no such grant.
      """)

  @Argument(help: "The grant's id.")
  var id: String

  @Option(help: "Why, for those who look at it later.")
  var reason: String

  @Option(help: "Who withdraws it.")
  var author: String

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try confirmation.confirm(
      "Withdraw grant \(id) of \(app.scope.bundleID) (\(app.scope.environment.rawValue))?")
    let request = WithdrawGrantRequest(
      grantID: GrantID(id.lowercased()), scope: app.scope, reason: reason, author: author)
    let response = try await server.withClient { try await $0.withdrawGrant(request) }
    try GrantOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it was withdrawn before") }
  }
}
