import ArgumentParser
import RPCClient
import Wire

struct StatisticsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics", abstract: "What the server counted since its start.",
    discussion: "The names are listed in deploy/docs/operations.md.")

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// A counter in JSON: a contract.
  private struct Document: Encodable {
    let name: String
    let value: Int64
  }

  func run() async throws {
    let counters = try await server.withClient { try await $0.statistics().counters }
    try output.write(counters.map { Document(name: $0.name, value: $0.value) }) { documents in
      var table = TextTable(header: ["NAME", "VALUE"])
      for document in documents { table.add([document.name, "\(document.value)"]) }
      return table.text
    }
  }
}
