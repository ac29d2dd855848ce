import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkTokensCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tokens", abstract: "Lists the tokens of an account, or those that are ambiguous.",
    discussion: """
      A token (appAccountToken) that two accounts were submitted with is ambiguous: purchases with \
      it wait without an account, until link bind-token says whose it is. Without an account the \
      ambiguous tokens of the app are listed, each with the account that was the first.
      """)

  @Argument(help: "The account. Default: the ambiguous tokens of all accounts.")
  var account: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if account == "" { throw ValidationError("the account is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    var request = ListAccountTokensRequest(
      scope: scope, accountID: account.map { AccountID($0) }, pageSize: 1_000)
    let tokens = try await server.withClient { client in
      var tokens: [AccountToken] = []
      repeat {
        let page = try await client.accountTokens(request)
        tokens += page.tokens
        request.pageToken = page.nextPageToken
      } while request.pageToken != nil
      return tokens
    }
    try output.write(tokens, table: LinkTable.tokens)
  }
}

struct LinkBindTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bind-token", abstract: "Says which account a token belongs to.",
    discussion: """
      Nothing that submissions present changes it afterwards. Purchases with the token that have no \
      account are linked to the account; purchases that have one stay: link transfer moves them. \
      With --forget what is known of the token is forgotten, as if it had never been presented. Asks \
      for confirmation; --yes skips the question.
      """)

  @Argument(help: "The token: a UUID.")
  var token: String

  @Argument(help: "The account; it may be one that is not known yet.")
  var account: String?

  @Flag(help: "Forget the token, instead of an account.")
  var forget = false

  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (account == nil) == forget, account != "" else {
      throw ValidationError("exactly one of an account and --forget is required")
    }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let question = account.map { "Bind token \(token) of \(scope.display) to account \($0)?" }
    try confirmation.confirm(question ?? "Forget token \(token) of \(scope.display)?")
    let request = BindAccountTokenRequest(
      scope: scope, appAccountToken: AppAccountToken(token),
      accountID: account.map { AccountID($0) }, reason: audit.reason, onBehalfOf: audit.onBehalfOf)
    let response = try await server.withClient { try await $0.bindAccountToken(request) }
    try LinkOutput.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed") }
  }
}
