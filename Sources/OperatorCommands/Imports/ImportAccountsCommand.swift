import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct ImportAccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Imports accounts: the server asks the App Store for each customer's whole history.",
    discussion: """
      The file is CSV with a header, or JSON lines, in UTF-8: account_id; transaction_id (any \
      transaction id of the customer, an original one, or an app transaction id) or receipt (base64, \
      which is read here and not sent); and optionally app_account_token, environment (production or \
      sandbox) and bundle_id. Other columns are ignored.

      The server stores the rows, and does them at the rate that Apple allows, about 40 a second. A \
      purchase of another account is not taken from it: the row fails. The same command continues an \
      import that was interrupted: rows that the server knows are not sent again. With --id all rows \
      are sent, and the server refuses one whose line it stored with other values. SIGINT and SIGTERM \
      end the waiting with exit code 1, and the import goes on in the server.

      Exit code 0 when all rows are done or stored, 2 when rows failed, were cancelled or were \
      not accepted, or when the server has no key of the App Store Server API for the app.
      """)

  @Argument(help: "The file, or - for stdin.")
  var file: String

  @Option(
    name: [.customLong("app"), .customLong("bundle-id")],
    help: "The app. Default: the context's, else the only one that the server lets the caller use.")
  var app: String?

  @Option(
    help: """
      The environment of rows without one: production or sandbox. Default: production, and sandbox \
      for a transaction that the App Store does not know there.
      """)
  var environment: EnvironmentName?

  @Option(
    help: """
      The import's id, of letters, digits, hyphens and underscores. Default: a digest of the file, the \
      app and the environment; of stdin, a random one.
      """)
  var id: String?

  @Flag(help: "Check all rows on the server, without the App Store, and store nothing.")
  var dryRun = false

  @Option(help: "Write the rows that failed or were not accepted to this file, as JSON lines.")
  var report: String?

  @Flag(help: "Do not wait until the rows are done.")
  var noWait = false

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    for (name, text) in [("--app", app), ("--id", id), ("--report", report)] where text == "" {
      throw ValidationError("\(name) is empty")
    }
    if let environment, ![.production, .sandbox].contains(environment) {
      throw ValidationError("--environment is production or sandbox")
    }
    if dryRun, noWait { throw ValidationError("--dry-run and --no-wait exclude each other") }
  }

  func run() async throws {
    let scope = try await AppOptions.scope(app, nil, on: server)
    let defaults = AccountFileDefaults(
      bundleID: scope.bundleID, environment: environment?.environment)
    let name = try importID(defaults)
    let rejections = try ImportReport(path: report)
    let summary = try await ImportFollower.following { [self] in
      try await server.withClient { client in
        var sender = AccountSender(
          client: client, importID: name, bundleID: defaults.bundleID, isDryRun: dryRun,
          skipsKnown: !dryRun && id == nil, audit: audit)
        try await sender.send(
          AccountFileReader(defaults, next: try AccountFile.pieces(of: file)), rejections)
        var summary = ImportSummary(sender)
        if dryRun || sender.isEmpty { return summary }
        summary.counts = ImportCounts(
          noWait
            ? try await client.getImport(
              GetImportRequest(importID: name, bundleID: scope.bundleID)
            ).accountImport
            : try await client.follow(name, of: scope.bundleID))
        try await rejections.add(
          client.importRows(
            ListImportRowsRequest(
              importID: name, state: .failed, pageSize: ListImportRowsRequest.largestPageSize,
              bundleID: scope.bundleID)))
        return summary
      }
    }
    try output.write(document: summary) { _ in summary.text }
    if let failure = summary.failure { throw failure }
  }

  private func importID(_ defaults: AccountFileDefaults) throws -> String {
    if let id { return id }
    if file == "-" {
      return (0..<2).map { _ in
        String(UInt64.random(in: (1 << 60) ... .max), radix: 16)
      }.joined()
    }
    return try AccountFile.importID(of: file, defaults)
  }
}

/// Rows that failed or were not accepted, as JSON lines in a file.
final class ImportReport: Sendable {
  private let handle: FileHandle?

  /// - Parameter path: nil: none is written.
  /// - Throws: ``CommandFailure`` when it cannot be written.
  init(path: String?) throws {
    guard let path else {
      handle = nil
      return
    }
    // It names customers.
    guard
      FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw CommandFailure(.failed, "\(path): cannot be written") }
    self.handle = handle
  }

  func add(_ row: ImportRowEntry) throws {
    guard let handle else { return }
    do {
      try handle.write(contentsOf: Data(try row.jsonEncoded() + [0x0A]))
    } catch {
      throw CommandFailure(.failed, "the report cannot be written")
    }
  }

  func add(_ rows: PageSequence<ImportRowEntry>) async throws {
    guard handle != nil else { return }
    for try await row in rows { try add(row) }
  }
}

/// Sends the rows of a file to the server.
struct AccountSender {
  let client: EntitlementClient
  let importID: String
  let bundleID: BundleID
  let isDryRun: Bool
  /// Whether lines up to the last one that the server knows are not sent: the id is a digest of the file.
  let skipsKnown: Bool
  let audit: JobAuditOptions

  /// Rows that are in the file.
  private(set) var rows: Int64 = 0
  /// Rows that were not sent, as they are none.
  private(set) var rejected: Int64 = 0
  /// Rows that the server knew before.
  private(set) var known: Int64 = 0
  /// What the server said of the rows that were sent.
  private(set) var counts = ImportCounts()
  private var batch: [ImportedAccount] = []
  /// Of a dry run, which stores no row that a later one could be compared with: the account of each
  /// transaction, both hashed.
  private var seen: [Int: Int] = [:]

  init(
    client: EntitlementClient, importID: String, bundleID: BundleID, isDryRun: Bool,
    skipsKnown: Bool, audit: JobAuditOptions
  ) {
    self.client = client
    self.importID = importID
    self.bundleID = bundleID
    self.isDryRun = isDryRun
    self.skipsKnown = skipsKnown
    self.audit = audit
  }

  /// Whether the server has nothing of the import.
  var isEmpty: Bool { rows == rejected }

  private static let batchSize = 500
  /// Rows between two lines of progress.
  private static let progressStep: Int64 = 50_000

  mutating func send(_ reader: AccountFileReader, _ report: ImportReport) async throws {
    var reader = reader
    let last = skipsKnown ? try await lastKnownRow() : 0
    if last > 0 { StandardError.write("import \(importID) is known: continues after line \(last)") }
    while let row = try reader.next() {
      rows += 1
      switch row.content {
      case .failure(let problem):
        rejected += 1
        try report.add(rejection(of: row.line, problem))
        if rejected <= 10 {
          StandardError.write("line \(row.line): \(TerminalText.escaped(problem.description))")
        } else if rejected == 11 {
          StandardError.write("more lines were not accepted")
        }
      case .success(let account):
        if row.line <= last {
          known += 1
        } else if try !isRepeated(account, report) {
          batch.append(account)
        }
      }
      if batch.count == Self.batchSize { try await sendBatch(report) }
      if rows.isMultiple(of: Self.progressStep) { StandardError.write("\(rows) rows sent") }
    }
    try await sendBatch(report)
  }

  private func lastKnownRow() async throws -> Int64 {
    do throws(RPCClientError) {
      let asked = GetImportRequest(importID: importID, bundleID: bundleID)
      return try await client.getImport(asked).accountImport.lastRow
    } catch {
      if case .status(.notFound) = error.code { return 0 }
      throw error
    }
  }

  private mutating func sendBatch(_ report: ImportReport) async throws {
    if batch.isEmpty { return }
    let request = ImportAccountsRequest(
      importID: importID, bundleID: bundleID, rows: batch, isDryRun: isDryRun,
      onBehalfOf: audit.onBehalfOf, reason: audit.reason)
    var sent = batch[...]
    for result in try await answer(to: request).results {
      guard let account = sent.popFirst() else { break }
      if result.isKnown { known += 1 }
      counts.add(result.state, result.failure)
      // What is stored is read again when all is done.
      if isDryRun, result.state == .failed { try report.add(ImportRowEntry(account, result)) }
    }
    batch = []
  }

  /// Waits as long as the server asks for, where a limit of the caller is reached.
  private func answer(to request: ImportAccountsRequest) async throws -> ImportAccountsResponse {
    while true {
      do throws(RPCClientError) {
        return try await client.importAccounts(request)
      } catch {
        guard case .status(.resourceExhausted) = error.code, let delay = error.retryDelay else {
          throw error
        }
        try await Task.sleep(for: delay)
      }
    }
  }

  /// Whether an earlier row of a dry run has the same transaction.
  private mutating func isRepeated(_ account: ImportedAccount, _ report: ImportReport) throws
    -> Bool
  {
    guard isDryRun else { return false }
    let transaction = [account.transactionID.rawValue, account.environment.rawValue].hashValue
    let name = account.accountID.hashValue
    guard let former = seen[transaction] else {
      seen[transaction] = name
      return false
    }
    if former == name {
      counts.add(.duplicate, nil)
    } else {
      counts.add(.failed, .conflict)
      try report.add(
        ImportRowEntry(
          account,
          ImportRowResult(
            row: account.row, state: .failed, failure: .conflict,
            detail: "an earlier row has another account for this transaction", isKnown: false)))
    }
    return true
  }

  private func rejection(of line: Int64, _ problem: AccountFileRow.Problem) -> ImportRowEntry {
    ImportRowEntry(
      row: line, environment: .production, state: .failed, failure: .invalid,
      detail: problem.description, changedAt: .now)
  }
}

extension ImportRowEntry {
  /// A row that is not stored.
  fileprivate init(_ account: ImportedAccount, _ result: ImportRowResult) {
    self.init(
      row: account.row, accountID: account.accountID, transactionID: account.transactionID,
      appAccountToken: account.appAccountToken, environment: account.environment,
      state: result.state, failure: result.failure, detail: result.detail, changedAt: .now)
  }
}

/// What became of a file. Its JSON is a documented contract.
struct ImportSummary: Encodable {
  let importId: String
  let bundleId: String
  let isDryRun: Bool
  let rows: Int64
  let rejected: Int64
  let known: Int64
  var counts: ImportCounts

  init(_ sender: AccountSender) {
    importId = sender.importID
    bundleId = sender.bundleID.rawValue
    isDryRun = sender.isDryRun
    rows = sender.rows
    rejected = sender.rejected
    known = sender.known
    counts = sender.counts
  }

  private enum Name: String, CodingKey {
    case importId, bundleId, dryRun, rows, rejected, known, waiting, done, failed, duplicates
    case cancelled, failures
  }

  /// As in messages, 64-bit numbers are strings.
  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Name.self)
    try members.encode(importId, forKey: .importId)
    try members.encode(bundleId, forKey: .bundleId)
    if isDryRun { try members.encode(true, forKey: .dryRun) }
    for (name, count) in [
      (.rows, rows), (.rejected, rejected), (.known, known), (.waiting, counts.waiting),
      (.done, counts.done), (.failed, counts.failed), (.duplicates, counts.duplicates),
      (.cancelled, counts.cancelled),
    ] as [(Name, Int64)] {
      try members.encode("\(count)", forKey: name)
    }
    try members.encode(counts.failures.mapValues { "\($0)" }, forKey: .failures)
  }

  var text: String {
    var lines = [
      StateTable.line("import", isDryRun ? "\(importId) (dry run: nothing is stored)" : importId),
      StateTable.line("app", bundleId), StateTable.line("rows", "\(rows)"),
    ]
    if rejected > 0 { lines.append(StateTable.line("not accepted", "\(rejected)")) }
    if known > 0 { lines.append(StateTable.line("known before", "\(known)")) }
    return (lines + counts.lines).joined(separator: "\n")
  }

  /// Nil when no row failed, was cancelled or was not accepted.
  var failure: CommandFailure? {
    let failed = counts.failed + counts.cancelled + rejected
    if failed == 0 { return nil }
    let what = counts.cancelled == 0 ? "failed or" : "failed, cancelled or"
    let command = isDryRun || counts.failed == 0 ? "" : "; entitlectl import failed \(importId)"
    return CommandFailure(.refused, "\(ImportTable.rows(failed)) \(what) not accepted\(command)")
  }
}
