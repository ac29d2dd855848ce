import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "The trail of calls that changed or disclosed something by decision.",
    subcommands: [AuditListCommand.self, AuditSealListCommand.self, AuditVerifyCommand.self])
}

struct AuditListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists entries of the audit trail, oldest first.",
    discussion: """
      Accounts are shown as pseudonyms. --account finds the entries of an account until it is \
      deleted, by this or another id that was merged with it. With --output jsonl, entries are \
      printed as they arrive.
      """)

  @Option(name: .app, help: "Only this app. Default: all.")
  var bundleID: String?

  @Option(help: "With --bundle-id: production, sandbox, xcode or local-testing.")
  var environment: EnvironmentName?

  @Option(help: "Only this account, of --bundle-id, else of the context's app or the only one.")
  var account: String?

  @Option(help: "Only this method, such as AddGrant.")
  var method: String?

  @Option(help: "Only this author: the name of a caller.")
  var author: String?

  @Option(help: "Only what was done on behalf of this person or tool.")
  var onBehalfOf: String?

  @Option(help: "From this time: RFC 3339, or milliseconds since 1970.")
  var from: Moment?

  @Option(help: "Before this time: RFC 3339, or milliseconds since 1970.")
  var until: Moment?

  @Option(help: "Maximum number of entries to print. Default: all.")
  var limit: Int?

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    if environment != nil, bundleID == nil {
      throw ValidationError("--environment needs --bundle-id")
    }
    for (name, text) in [
      ("--bundle-id", bundleID), ("--account", account), ("--method", method),
      ("--author", author), ("--on-behalf-of", onBehalfOf),
    ]
    where text == "" { throw ValidationError("\(name) is empty") }
  }

  func run() async throws {
    let app =
      account == nil
      ? bundleID : try await AppOptions.scope(bundleID, environment, on: server).bundleID.rawValue
    let request = ListAuditEntriesRequest(
      app: app, appEnvironment: environment?.environment.rawValue,
      accountID: account.map { AccountID($0) }, method: method, author: author,
      from: from?.milliseconds, until: until?.milliseconds,
      pageSize: min(limit ?? .max, ListAuditEntriesRequest.largestPageSize), onBehalfOf: onBehalfOf)
    let entries = try await server.withClient { client in
      var entries: [AuditedCallEntry] = []
      var count = 0
      for try await entry in client.auditEntries(request) {
        if output.output == .jsonl {
          try output.write(entry) { _ in "" }
        } else {
          entries.append(entry)
        }
        count += 1
        if count == limit { break }
      }
      return entries
    }
    if output.output != .jsonl { try output.write(entries, table: Self.table) }
  }

  static func table(_ entries: [AuditedCallEntry]) -> String {
    var table = TextTable(
      header: ["TIME", "METHOD", "ACCOUNT", "AUTHOR", "REASON", "PEER", "NODE", "ENTRY"])
    for entry in entries {
      table.add([
        entry.at.display, entry.method, entry.account.map { String($0.prefix(8)) } ?? "-",
        AuthorText.text(entry.author, onBehalfOf: entry.onBehalfOf),
        entry.reason ?? entry.subject ?? "-", entry.peer, entry.node,
        "\(entry.chain.prefix(8)):\(entry.position)",
      ])
    }
    return table.text
  }
}

struct AuditSealListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seals", abstract: "Lists the seals of the audit trail, oldest first.",
    discussion: """
      A seal names the end of each chain that grew since the seal before it. Note the hash of the \
      last one elsewhere: audit verify --head checks the trail against it.
      """)

  @Option(help: "Seals after this number; 0: all.")
  var after: Int64 = 0

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if after < 0 { throw ValidationError("--after is at least 0") }
  }

  func run() async throws {
    let seals = try await server.withClient { client in
      var seals: [AuditSealEntry] = []
      var last = after
      while true {
        let page = try await client.listAuditSeals(
          ListAuditSealsRequest(
            afterNumber: last, pageSize: ListAuditSealsRequest.largestPageSize)
        ).seals
        guard let end = page.last else { break }
        if output.output == .jsonl {
          try output.write(page) { _ in "" }
        } else {
          seals += page
        }
        last = end.number
      }
      return seals
    }
    if output.output != .jsonl { try output.write(seals, table: Self.table) }
  }

  static func table(_ seals: [AuditSealEntry]) -> String {
    var table = TextTable(header: ["SEAL", "TIME", "NODE", "CHAINS", "HASH"])
    for seal in seals {
      table.add([
        "\(seal.number)", seal.at.display, seal.node, "\(seal.chains.count)", seal.hash,
      ])
    }
    return table.text
  }
}
