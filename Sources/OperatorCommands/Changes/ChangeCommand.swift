import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct ChangeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "change", abstract: "The feed of changes and events.",
    subcommands: [ChangeListCommand.self])
}

struct ChangeListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the entries of the change feed, in the order of commits.",
    discussion: """
      To continue, pass the sequence number of the last entry as --after. One feed has the entries \
      of all apps and environments. With --output jsonl, entries are printed as they arrive.
      """)

  @Option(help: "Entries after this sequence number; 0: all entries.")
  var after: Int64 = 0

  @Option(help: "Maximum number of entries to print. Default: 100.")
  var limit: Int?

  @Flag(help: "Print all entries up to the end of the feed.")
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

/// Entries of the change feed as a table, one line an entry.
enum ChangeTable {
  static func text(of changes: [ChangeEntry]) -> String {
    var table = TextTable(header: ["SEQUENCE", "TIME", "CUSTOMER", "WHAT", "EVENTS"])
    for change in changes {
      table.add([
        "\(change.sequence)", change.committedAt.display, change.subject?.display ?? "-",
        what(of: change), change.events.cell,
      ])
    }
    return table.text
  }

  private static func what(of change: ChangeEntry) -> String {
    let kinds = [
      ("facts", change.hasFacts), ("linked", change.isLinked), ("unlinked", change.isUnlinked),
      ("grants", change.hasGrants), ("merged", change.isMerged), ("deleted", change.isDeleted),
    ]
    let names = kinds.filter(\.1).map(\.0)
    return names.isEmpty ? "-" : names.joined(separator: ", ")
  }
}
