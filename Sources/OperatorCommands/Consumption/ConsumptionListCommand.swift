import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ConsumptionListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the App Store's requests, in the order of their ids.",
    discussion: """
      CAUSE is why nothing was sent, or what an open request waits for. With --output jsonl, \
      requests are printed as they arrive.
      """)

  @Option(help: "Only this state: \(ConsumptionStateName.list). Default: all.")
  var state: ConsumptionStateName?

  @Option(help: "Maximum number of requests to print. Default: 100.")
  var limit: Int?

  @Flag(help: "Print all requests.")
  var all = false

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    if all, limit != nil { throw ValidationError("--limit and --all exclude each other") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let count = all ? Int.max : limit ?? ListConsumptionRequestsRequest.defaultPageSize
    let request = ListConsumptionRequestsRequest(
      scope: scope, state: state?.state,
      pageSize: min(count, ListConsumptionRequestsRequest.largestPageSize))
    let requests = try await server.withClient { client in
      var requests: [ConsumptionRequestEntry] = []
      var printed = 0
      for try await found in client.consumptionRequests(request) {
        if output.output == .jsonl {
          try output.write(found) { _ in "" }
        } else {
          requests.append(found)
        }
        printed += 1
        if printed == count { break }
      }
      return requests
    }
    if output.output != .jsonl { try output.write(requests, table: ConsumptionTable.text) }
    if requests.isEmpty, output.output == .table {
      StandardError.write("no such request of \(scope.display): --environment names another one")
    }
  }
}

/// The name of a state on the command line.
enum ConsumptionStateName: String, ExpressibleByArgument, CaseIterable {
  case open
  case sent
  case notSent = "not-sent"

  /// For help.
  static let list = "open, sent or not-sent"

  var state: ConsumptionState {
    switch self {
    case .open: .open
    case .sent: .sent
    case .notSent: .notSent
    }
  }
}
