import ArgumentParser
import Programs
import RPCClient
import Wire

struct LinkRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Takes a chain or app transaction from its account.",
    discussion: """
      Asks first; --yes answers for a script. What Apple signed is kept, without an account: only \
      a claim, or link add, gives it one again, and no hint of Apple's does. Exit code 2 when \
      nothing is known of it.
      """)

  @OptionGroup var target: TargetOptions
  @OptionGroup var audit: AuditOptions
  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try confirmation.confirm(
      "Take \(target.target.display) of \(app.display) from its account?")
    let request = UnlinkAccountRequest(
      scope: app.scope, target: target.target, reason: audit.reason, author: audit.author)
    let response = try await server.withClient { try await $0.unlinkAccount(request) }
    try LinkOutcome.write(response, to: output)
    if !response.isChanged { StandardError.write("nothing changed: it had no account") }
  }
}
