import ArgumentParser
import RPCClient
import Wire

struct ChangeListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "What changed, and for whom, in the order of commits.",
    discussion: """
      The sequence number of the last entry is what --after takes to go on. Entries of all apps and \
      environments are in one feed. With --output jsonl they are printed while they come.
      """)

  @Option(help: "Entries after this sequence number; 0: from the first.")
  var after: Int64 = 0

  @Option(help: "Entries to print at most. Default: 100.")
  var limit: Int?

  @Flag(help: "Print everything up to the end of the feed.")
  var all = false

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if after < 0 { throw ValidationError("--after is at least 0") }
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    if all, limit != nil { throw ValidationError("--limit and --all exclude each other") }
  }

  func run() async throws {
    let changes = try await server.withClient { client in
      var changes: [ChangeEntry] = []
      var rest = all ? Int.max : limit ?? ListChangesRequest.defaultPageSize
      var last = after
      while rest > 0 {
        let size = min(rest, ListChangesRequest.largestPageSize)
        let page = try await client.changes(
          ListChangesRequest(afterSequence: last, pageSize: size)
        ).changes
        if output.output == .jsonl {
          try output.write(page) { _ in "" }
        } else {
          changes += page
        }
        // A page that is not full is the last one.
        guard page.count == size, let end = page.last else { break }
        rest -= size
        last = end.sequence
      }
      return changes
    }
    if output.output != .jsonl { try output.write(changes, table: ChangeTable.text) }
  }
}
