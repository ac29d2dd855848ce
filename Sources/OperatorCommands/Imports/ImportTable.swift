import EntitlementDomain
import Programs
import Wire

/// How many rows of an import are in each state.
struct ImportCounts: Hashable {
  var waiting: Int64 = 0
  var done: Int64 = 0
  var failed: Int64 = 0
  var duplicates: Int64 = 0
  var cancelled: Int64 = 0
  /// By the names of the failures.
  var failures: [String: Int64] = [:]

  init() {}

  init(_ entry: ImportEntry) {
    for count in entry.counts { add(count.state, count.failure, count.count) }
  }

  mutating func add(_ state: ImportRowState?, _ failure: ImportFailure?, _ count: Int64 = 1) {
    switch state {
    case .waiting: waiting += count
    case .done: done += count
    case .failed:
      failed += count
      failures[failure.map { wireName($0) } ?? "-", default: 0] += count
    case .duplicate: duplicates += count
    case .cancelled: cancelled += count
    case nil: break
    }
  }

  var all: Int64 { waiting + done + failed + duplicates + cancelled }

  /// Nil when no row failed or was cancelled.
  var failure: CommandFailure? {
    let count = failed + cancelled
    if count == 0 { return nil }
    return CommandFailure(
      .refused,
      "\(ImportTable.rows(count)) \(cancelled == 0 ? "failed" : "failed or were cancelled")")
  }

  /// A line for each state and failure that there is.
  var lines: [String] {
    var lines: [String] = []
    for (name, count) in [
      ("waiting", waiting), ("done", done), ("failed", failed), ("duplicates", duplicates),
      ("cancelled", cancelled),
    ] where count > 0 || name == "done" {
      lines.append(StateTable.line(name, "\(count)"))
    }
    lines += failures.sorted { $0.key < $1.key }.map { name, count in
      StateTable.line("  \(name)", "\(count)")
    }
    return lines
  }
}

/// Imports and their rows as text for a terminal.
enum ImportTable {
  /// `1 row`, `2 rows`.
  static func rows(_ count: Int64) -> String { count == 1 ? "1 row" : "\(count) rows" }

  static func details(of entry: ImportEntry) -> String {
    var lines = [
      StateTable.line("import", entry.importID ?? "-"),
      StateTable.line("app", entry.bundleID?.rawValue ?? "-"),
      StateTable.line("begun", entry.beganAt.display),
    ]
    if let author = entry.author { lines.append(StateTable.line("by", author)) }
    lines.append(StateTable.line("last row", "\(entry.lastRow)"))
    return (lines + ImportCounts(entry).lines).joined(separator: "\n")
  }

  static func text(of imports: [ImportEntry]) -> String {
    var table = TextTable(header: ["IMPORT", "APP", "BEGUN", "BY", "LAST ROW"])
    for entry in imports {
      table.add([
        entry.importID ?? "-", entry.bundleID?.rawValue ?? "-", entry.beganAt.display,
        entry.author ?? "-", "\(entry.lastRow)",
      ])
    }
    return table.text
  }

  static func text(of rows: [ImportRowEntry]) -> String {
    var table = TextTable(
      header: ["ROW", "ACCOUNT", "TRANSACTION", "ENVIRONMENT", "STATE", "FAILURE", "DETAIL"])
    for row in rows {
      table.add([
        "\(row.row)", row.accountID?.rawValue ?? "-", row.transactionID?.rawValue ?? "-",
        row.environment.rawValue, row.state.map { wireName($0) } ?? "-",
        row.failure.map { wireName($0) } ?? "-", row.detail ?? "-",
      ])
    }
    return table.text
  }
}
