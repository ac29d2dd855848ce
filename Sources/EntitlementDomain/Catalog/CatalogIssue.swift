/// Something wrong, or doubtful, at one place of a catalog file.
package struct CatalogIssue: Hashable, Sendable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    case error
    case warning
  }

  package var severity: Severity
  /// From 1.
  package var line: Int
  package var column: Int
  /// Where in the document, such as `products[2].duration`.
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

/// A catalog file that cannot be used, with everything that is wrong with it.
package struct CatalogError: Error, Sendable, CustomStringConvertible {
  /// Errors and warnings, in the order of the file; at least one error.
  package let issues: [CatalogIssue]

  package var description: String {
    issues.map(\.description).joined(separator: "\n")
  }
}
