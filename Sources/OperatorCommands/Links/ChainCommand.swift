import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct ChainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chain", abstract: "Chains of transactions.",
    subcommands: [ChainListCommand.self])
}

struct ChainListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the chains without an account, sorted by id.",
    discussion: """
      link add links a chain to an account; a customer claims a chain by submitting it. With \
      --output jsonl, chains are printed as they arrive.
      """)

  @Flag(help: "Chains without an account. Required, because no other chains can be listed.")
  var unlinked = false

  @Option(help: "Maximum number of chains to print. Default: all.")
  var limit: Int?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard unlinked else { throw ValidationError("--unlinked is required") }
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let chains = try await server.withClient { client in
      let pageSize = min(limit ?? .max, ListUnlinkedChainsRequest.largestPageSize)
      var chains: [UnlinkedChainEntry] = []
      var count = 0
      for try await chain in client.unlinkedChains(in: scope, pageSize: pageSize) {
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
