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

  /// A counter in JSON: a contract.
  private struct Document: Encodable {
    struct Counter: Encodable {
      let name: String
      let value: Int64
    }

    /// The server's; nil when it does not send it.
    let version: String?
    let counters: [Counter]
  }

  func run() async throws {
    let response = try await server.withClient { try await $0.statistics() }
    let document = Document(
      version: response.version,
      counters: response.counters.map { Document.Counter(name: $0.name, value: $0.value) })
    try output.write(document) { _ in Self.table(of: response) }
  }

  static func table(of response: GetStatisticsResponse) -> String {
    var table = TextTable(header: ["NAME", "VALUE"])
    if let version = response.version { table.add(["version", version]) }
    for counter in response.counters { table.add([counter.name, "\(counter.value)"]) }
    return table.text
  }
}
