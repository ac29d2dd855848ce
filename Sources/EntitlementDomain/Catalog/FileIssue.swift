/// An error or a warning at one position of a catalog file.
package struct FileIssue: Hashable, Sendable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    case error
    case warning
  }

  package var severity: Severity
  /// Lines and columns count from 1.
  package var line: Int
  package var column: Int
  /// The path of the field, such as `products[2].duration`; empty for the document.
  package var field: String
  package var message: String

  package init(severity: Severity, line: Int, column: Int, field: String, message: String) {
    self.severity = severity
    self.line = line
    self.column = column
    self.field = field
    self.message = message
  }

  package var description: String {
    "line \(line), \(field.isEmpty ? "document" : field): \(severity.rawValue): \(message)"
  }
}

/// The error for a catalog file that cannot be used.
package struct CatalogError: Error, Sendable, CustomStringConvertible {
  /// Errors and warnings, in the order of the file; at least one error.
  package let issues: [FileIssue]

  package init(issues: [FileIssue]) {
    self.issues = issues
  }

  package var description: String {
    issues.map(\.description).joined(separator: "\n")
  }
}
