import EntitlementDomain
import Programs

/// What is to be said of one catalog file.
struct CatalogReport {
  /// For people; stdin has this name.
  let file: String
  /// Nil when the file is not valid.
  let catalog: Catalog?
  /// In the order of the file.
  let issues: [CatalogIssue]

  /// - Parameter path: `-` is stdin.
  /// - Throws: ``CommandFailure`` when the file cannot be read.
  init(ofFileAt path: String) throws(CommandFailure) {
    file = path == "-" ? "stdin" : path
    let bytes = try InputFile.contents(of: path, limit: CatalogFile.maximumBytes)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      catalog = nil
      issues = [
        CatalogIssue(severity: .error, line: 1, column: 1, field: "", message: "not UTF-8")
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

  /// For people: an issue a line, in the form that editors can follow, and a last line about the
  /// whole.
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
  /// Grandfathering rules of all apps.
  var ruleCount: Int { grandfathering.values.reduce(0) { $0 + $1.count } }
}
