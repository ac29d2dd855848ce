import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct LinkResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Whom an identifier leads to.",
    discussion: """
      An account (the one that it was merged into, where it was), or a chain that no account has. \
      Exit code 2 when nobody is known by it, or several such chains are.
      """)

  @OptionGroup var customer: CustomerOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = ResolveAccountRequest(customer: customer.selector, scope: app.scope)
    let found = try await server.withClient { try await $0.resolveAccount(request) }
    guard let subject = found.subject else {
      throw CommandFailure(
        .refused,
        found.revision == 0
          ? "nobody is known by it" : "several chains that no account has are known by it")
    }
    try output.write(
      SubmittedCustomer(subject: subject, scope: app.scope, revision: found.revision)
    ) { LinkTable.resolved($0.subject, revision: $0.revision) }
  }
}
