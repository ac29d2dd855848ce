import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct ChainListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "The chains that no account has, by id.",
    discussion: """
      link add gives one to an account; a customer claims one by submitting it. With --output \
      jsonl they are printed while they come.
      """)

  @Flag(help: "Those that no account has: the only ones that can be listed, so it is needed.")
  var unlinked = false

  @Option(help: "Chains to print at most. Default: all.")
  var limit: Int?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard unlinked else { throw ValidationError("--unlinked is needed") }
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
  }

  func run() async throws {
    let chains = try await server.withClient { client in
      let pageSize = min(limit ?? .max, ListUnlinkedChainsRequest.largestPageSize)
      var chains: [UnlinkedChainEntry] = []
      var count = 0
      for try await chain in client.unlinkedChains(in: app.scope, pageSize: pageSize) {
        if output.output == .jsonl {
          try output.write(chain) { _ in "" }
        } else {
          chains.append(chain)
        }
        count += 1
        if count == limit { break }
      }
      return chains
    }
    if output.output != .jsonl { try output.write(chains, table: Self.table) }
  }

  static func table(_ chains: [UnlinkedChainEntry]) -> String {
    var table = TextTable(header: ["CHAIN", "CHANGED", "REVISION"])
    for chain in chains {
      table.add([
        chain.originalTransactionID.rawValue, chain.changedAt.display, "\(chain.revision)",
      ])
    }
    return table.text
  }
}
