import ArgumentParser
import CatalogFiles
import EntitlementDomain
import Programs

struct CatalogCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks catalog files, without a server.",
    discussion: """
      Prints every error and warning with its position. Exit code 0 when all files are valid \
      (warnings are allowed), 2 when a file is not valid, 1 when a file cannot be read; the \
      remaining files are still checked.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var output: OutputOptions

  func run() throws {
    var reports: [CatalogReport] = []
    var isComplete = true
    for path in files {
      do throws(CommandFailure) {
        reports.append(try CatalogReport(ofFileAt: path))
      } catch {
        // The remaining files are checked even if one cannot be read.
        error.report()
        isComplete = false
      }
    }
    switch output.output {
    case .table:
      for report in reports {
        try StandardOutput.write(TerminalText.escaped(report.text, keepsLines: true))
      }
    case .json, .jsonl:
      try output.write(documents: try reports.map { try CatalogReportDocument($0) }) { _ in "" }
    }
    if !isComplete { throw CommandFailure(.failed, nil) }
    if reports.contains(where: { $0.catalog == nil }) { throw CommandFailure(.refused, nil) }
  }
}

/// The result of checking one catalog file.
struct CatalogReport {
  /// The name to print: the path, or `stdin`.
  let file: String
  /// Nil when the file is not valid.
  let catalog: Catalog?
  /// In the order of the file.
  let issues: [FileIssue]

  /// - Parameter path: `-` is stdin.
  /// - Throws: ``CommandFailure`` when the file cannot be read.
  init(ofFileAt path: String) throws(CommandFailure) {
    file = path == "-" ? "stdin" : path
    let bytes = try InputFile.contents(of: path, limit: CatalogFile.maximumBytes)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      catalog = nil
      issues = [
        FileIssue(severity: .error, line: 1, column: 1, field: "", message: "not UTF-8")
      ]
      return
    }
    do throws(CatalogError) {
      let contents = try CatalogFile.parse(text)
      catalog = contents.catalog
      issues = contents.warnings
    } catch {
      catalog = nil
      issues = error.issues
    }
  }

  /// One issue a line as `file:line:column: …`, which editors can follow, then a summary line.
  var text: String {
    let lines = issues.map { issue in
      let field = issue.field.isEmpty ? "" : "\(issue.field): "
      let message = issue.message
      return
        "\(file):\(issue.line):\(issue.column): \(issue.severity.rawValue): \(field)\(message)"
    }
    return (lines + ["\(file): \(summary)"]).joined(separator: "\n")
  }

  private var summary: String {
    let found = [
      Self.count(issues.count { $0.severity == .error }, "error", "errors"),
      Self.count(issues.count { $0.severity == .warning }, "warning", "warnings"),
    ].joined(separator: ", ")
    guard let catalog else { return "not valid; \(found)" }
    let parts = [
      Self.count(catalog.apps.count, "app", "apps"),
      Self.count(catalog.products.count, "product", "products"),
      Self.count(catalog.entitlements.count, "entitlement", "entitlements"),
      Self.count(catalog.ruleCount, "grandfathering rule", "grandfathering rules"),
    ].joined(separator: ", ")
    return "valid; \(parts); \(found)"
  }

  private static func count(_ number: Int, _ one: String, _ several: String) -> String {
    "\(number) \(number == 1 ? one : several)"
  }
}

extension Catalog {
  /// The number of grandfathering rules of all apps.
  var ruleCount: Int { grandfathering.values.reduce(0) { $0 + $1.count } }
}

/// A ``CatalogReport`` in JSON. The format is a documented contract. Issues are
/// `entitle.v1.FileIssue`. Counts are absent when the file is not valid.
struct CatalogReportDocument: Encodable {
  let file: String
  let valid: Bool
  let apps: Int?
  let products: Int?
  let entitlements: Int?
  let grandfatheringRules: Int?
  let issues: [JSONValue]

  init(_ report: CatalogReport) throws {
    file = report.file
    valid = report.catalog != nil
    apps = report.catalog?.apps.count
    products = report.catalog?.products.count
    entitlements = report.catalog?.entitlements.count
    grandfatheringRules = report.catalog?.ruleCount
    issues = try report.issues.map { try JSONValue($0) }
  }
}
