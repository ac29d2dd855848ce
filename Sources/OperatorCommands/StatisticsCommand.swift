import ArgumentParser
import RPCClient
import Wire

struct StatisticsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics",
    abstract: "What the server counted since its start, and its version.",
    discussion: "The names are listed in deploy/docs/operations.md.")

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let response = try await server.withClient { try await $0.statistics() }
    try output.write(response, table: Self.table)
  }

  static func table(of response: GetStatisticsResponse) -> String {
    var table = TextTable(header: ["NAME", "VALUE"])
    if let version = response.version { table.add(["version", version]) }
    for counter in response.counters { table.add([counter.name, "\(counter.value)"]) }
    return table.text
  }
}
