import ArgumentParser
import Programs
import RPCClient
import Wire

struct CustomerGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "The state of one customer.")

  @OptionGroup var customer: CustomerOptions

  @Option(help: "Answer for this moment: RFC 3339 or milliseconds since 1970. Default: now.")
  var at: Moment?

  @Option(help: "Answer as new as the write that returned this revision.")
  var minRevision: Int64?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let request = GetCustomerStateRequest(
      customer: customer.selector, scope: app.scope,
      consistency: minRevision.map { .atLeastAsFresh(revision: $0) } ?? .minimizeLatency,
      at: at?.milliseconds)
    let answer = try await server.withClient { try await $0.customerState(request) }
    guard case .state(let state) = answer else {
      throw CommandFailure(.failed, "the server answered without a state")
    }
    try output.write(state, table: StateTable.details)
  }
}
