/// The error of a scenario that cannot be run, with all issues of its file.
package struct ScenarioError: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// A file or folder cannot be read.
    case unreadable
    /// The file is not a valid scenario.
    case malformed
    /// The run itself failed: its store, its keys or its folder.
    case internalFault
  }

  package let code: Code
  /// In the order of the file; at least one.
  package let issues: [ScenarioIssue]

  package init(_ code: Code, issues: [ScenarioIssue]) {
    self.code = code
    self.issues = issues
  }

  /// An error about the whole file.
  package init(_ code: Code, _ message: String) {
    self.init(code, issues: [ScenarioIssue(line: 1, field: "", message: message)])
  }

  package var description: String {
    issues.map(\.description).joined(separator: "\n")
  }
}

/// An error at one position of a scenario file.
package struct ScenarioIssue: Hashable, Sendable, CustomStringConvertible {
  /// From 1.
  package let line: Int
  /// The path in the document, such as `steps[2].state.coreState`; empty for the whole document.
  package let field: String
  package let message: String

  package init(line: Int, field: String, message: String) {
    self.line = line
    self.field = field
    self.message = message
  }

  package var description: String {
    "line \(line), \(field.isEmpty ? "document" : field): \(message)"
  }
}
