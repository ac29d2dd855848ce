/// A scenario file that cannot be run, with everything that is wrong with it.
package struct ScenarioError: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// A file or folder cannot be read.
    case unreadable
    /// The file says something that a scenario cannot say.
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

  /// About the file as a whole.
  package init(_ code: Code, _ message: String) {
    self.init(code, issues: [ScenarioIssue(line: 1, field: "", message: message)])
  }

  package var description: String {
    issues.map(\.description).joined(separator: "\n")
  }
}
