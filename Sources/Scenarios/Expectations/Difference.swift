package import EntitlementDomain

/// One thing that an answer says otherwise than a scenario expects.
package struct Difference: Hashable, Sendable, CustomStringConvertible {
  /// Of the expectation, from 1.
  package let line: Int
  /// The moment asked about, or at which something was received.
  package let moment: Milliseconds
  /// What was done otherwise than the file says, such as "in reverse order"; nil for the run as it
  /// is written.
  package let variant: String?
  /// Where in the answer.
  package let field: String
  package let expected: String
  package let actual: String

  /// Without the file's name: a line and two that follow.
  package var description: String {
    let context = variant.map { " (\($0))" } ?? ""
    return """
      \(line): \(moment.exactRFC3339)\(context): \(field)
        expected  \(expected)
        actual    \(actual)
      """
  }
}
