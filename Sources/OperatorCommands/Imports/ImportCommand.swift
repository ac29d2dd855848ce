import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports of accounts: a team's own table, with the history that Apple signed.",
    discussion: """
      Archived responses of verifyReceipt are imported by entitlectl receipt import. \
      deploy/docs/migration.md has the steps of a migration.
      """,
    subcommands: [
      ImportAccountsCommand.self, ImportStatusCommand.self, ImportFailedCommand.self,
      ImportListCommand.self, ImportRetryCommand.self, ImportCancelCommand.self,
      ImportDeleteCommand.self,
    ])
}

struct ImportStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows how far an import is.",
    discussion: """
      With --wait, shows the progress on stderr until no row waits; exit code 2 then if rows failed or \
      were cancelled. SIGINT and SIGTERM end the waiting with exit code 1. Exit code 2 when there is \
      no such import.
      """)

  @OptionGroup var asked: ImportOptions

  @Flag(help: "Wait until no row waits.")
  var wait = false

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (id, app) = (asked.id, try await asked.bundleID(on: server))
    let found: ImportEntry
    if wait {
      found = try await ImportFollower.following { [server] in
        try await server.withClient { try await $0.follow(id, of: app) }
      }
    } else {
      found = try await server.withClient {
        try await $0.getImport(GetImportRequest(importID: id, bundleID: app)).accountImport
      }
    }
    try output.write(found) { ImportTable.details(of: $0) }
    if wait, let failure = ImportCounts(found).failure { throw failure }
  }
}

struct ImportFailedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "failed", abstract: "Lists the rows of an import that failed, with their reasons.",
    discussion: """
      With --state, lists those in another state. With --output jsonl, rows are printed as they \
      arrive. Exit code 2 when there is no such import.
      """)

  @OptionGroup var asked: ImportOptions

  @Option(help: "The state: \(ImportStateName.list). Default: failed.")
  var state: ImportStateName = .failed

  @Option(help: "Maximum number of rows to print. Default: all.")
  var limit: Int?

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
  }

  func run() async throws {
    let count = limit ?? Int.max
    let request = ListImportRowsRequest(
      importID: asked.id, state: state.state,
      pageSize: min(count, ListImportRowsRequest.largestPageSize),
      bundleID: try await asked.bundleID(on: server))
    let rows = try await server.withClient { client in
      var rows: [ImportRowEntry] = []
      var printed = 0
      for try await row in client.importRows(request) {
        if output.output == .jsonl {
          try output.write(row) { _ in "" }
        } else {
          rows.append(row)
        }
        printed += 1
        if printed == count { break }
      }
      return rows
    }
    if output.output != .jsonl { try output.write(rows) { ImportTable.text(of: $0) } }
  }
}

struct ImportListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists imports, in the order in which they began.",
    discussion: """
      A caller that may not use all apps has to name one, unless it may use only one app.
      """)

  @Option(
    name: [.customLong("app"), .customLong("bundle-id")],
    help: "Only this app. Default: the context's, else all apps.")
  var app: String?

  @Flag(help: "All apps, whatever the context says.")
  var allApps = false

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if allApps, app != nil { throw ValidationError("--app and --all-apps exclude each other") }
  }

  func run() async throws {
    let (bundleID, _) = try await AppOptions.filter(app, nil, allApps: allApps, on: server)
    let imports = try await server.withClient { client in
      var imports: [ImportEntry] = []
      for try await found in client.imports(ListImportsRequest(bundleID: bundleID)) {
        imports.append(found)
      }
      return imports
    }
    try output.write(imports) { ImportTable.text(of: $0) }
  }
}

struct ImportRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Does the rows of an import again that failed or were cancelled.",
    discussion: """
      Without those whose values are not valid, and conflicts with a row that waits or is cancelled. \
      Exit code 2 when there is no such import, and when the server has no key of the App Store Server \
      API for its app.
      """)

  @OptionGroup var change: ImportChangeOptions

  func run() async throws {
    try await change.perform(.retry, "to be done again")
  }
}

struct ImportCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancels the rows of an import that wait.",
    discussion: """
      Asks for confirmation; --yes skips the question. What was stored and linked stays, and what the \
      server is fetching may still be stored. entitlectl import retry does the rows after all. Exit \
      code 2 when there is no such import.
      """)

  @OptionGroup var change: ImportChangeOptions
  @OptionGroup var confirmation: ConfirmationOptions

  func run() async throws {
    try confirmation.confirm("Cancel what waits of import \(change.asked.id)?")
    try await change.perform(.cancel, "cancelled")
  }
}

struct ImportDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Deletes an import with its report.",
    discussion: """
      Asks for confirmation; --yes skips the question. Rows that wait are not done. What was stored \
      and linked stays. Exit code 2 when there is no such import.
      """)

  @OptionGroup var change: ImportChangeOptions
  @OptionGroup var confirmation: ConfirmationOptions

  func run() async throws {
    try confirmation.confirm("Delete import \(change.asked.id) with its report?")
    try await change.perform(.delete, "deleted")
  }
}

/// An import of an app.
struct ImportOptions: ParsableArguments {
  @Argument(help: "The import's id.")
  var id: String

  @Option(
    name: .app,
    help: "Its app. Default: the context's, else the only one that the server lets the caller use.")
  var app: String?

  func bundleID(on server: ServerOptions) async throws -> BundleID {
    try await AppOptions.scope(app, nil, on: server).bundleID
  }
}

/// A change of an import.
struct ImportChangeOptions: ParsableArguments {
  @OptionGroup var asked: ImportOptions
  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// Repeats the call until all rows are changed, and prints how many there were.
  func perform(_ action: ImportAction, _ participle: String) async throws {
    let request = ChangeImportRequest(
      importID: asked.id, action: action, onBehalfOf: audit.onBehalfOf, reason: audit.reason,
      bundleID: try await asked.bundleID(on: server))
    let total = try await server.withClient { client in
      var total = ChangeImportResponse(changedRows: 0, isComplete: false)
      while !total.isComplete {
        let response = try await client.changeImport(request)
        total.changedRows += response.changedRows
        total.isComplete = response.isComplete
      }
      return total
    }
    try output.write(total) { ImportTable.rows($0.changedRows) + " \(participle)" }
  }
}

/// The name of a state on the command line.
enum ImportStateName: String, ExpressibleByArgument, CaseIterable {
  case waiting
  case done
  case failed
  case duplicate
  case cancelled

  /// For help.
  static let list = "waiting, done, failed, duplicate or cancelled"

  var state: ImportRowState {
    switch self {
    case .waiting: .waiting
    case .done: .done
    case .failed: .failed
    case .duplicate: .duplicate
    case .cancelled: .cancelled
    }
  }
}
