/// Collects what is wrong with a file, so that one run tells it all.
struct CatalogIssues {
  /// Nobody reads more, and a wrong file may have millions. Each severity has its own, so that
  /// warnings hide no error.
  static let limit = 100

  private var errors: [CatalogIssue] = []
  private var warnings: [CatalogIssue] = []
  private var leftOut = 0

  var hasErrors: Bool { !errors.isEmpty }

  mutating func add(_ issue: CatalogIssue) {
    let count = issue.severity == .error ? errors.count : warnings.count
    guard count < Self.limit else {
      leftOut += 1
      return
    }
    switch issue.severity {
    case .error: errors.append(issue)
    case .warning: warnings.append(issue)
    }
  }

  /// In the order of the file; the last one says how many are left out, where some are.
  var sorted: [CatalogIssue] {
    var issues = (errors + warnings).sorted {
      ($0.line, $0.column, $0.field) < ($1.line, $1.column, $1.field)
    }
    if leftOut > 0, let last = issues.last {
      issues.append(
        CatalogIssue(
          severity: hasErrors ? .error : .warning, line: last.line, column: last.column, field: "",
          message: "\(leftOut) more are not shown"))
    }
    return issues
  }
}
