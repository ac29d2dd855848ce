import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct CustomerListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "The states of an app's customers, by account id.")

  @Option(help: "Customers to print at most. Default: all.")
  var limit: Int?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
  }

  func run() async throws {
    let states = try await server.withClient { client in
      let pageSize = min(limit ?? .max, ListCustomersRequest.largestPageSize)
      var states: [CustomerState] = []
      for try await state in client.customers(in: app.scope, pageSize: pageSize) {
        states.append(state)
        if states.count == limit { break }
      }
      return states
    }
    try output.write(states, table: StateTable.list)
  }
}
