/// Something wrong at one place of a scenario file.
package struct ScenarioIssue: Hashable, Sendable, CustomStringConvertible {
  /// From 1.
  package let line: Int
  /// Where in the document, such as `steps[2].state.coreState`; empty for all of it.
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
