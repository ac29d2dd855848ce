/// Something that must hold for every input, and did not for this one: a finding.
package struct BrokenInvariant: Error, Hashable, Sendable, CustomStringConvertible {
  /// What must hold.
  package let statement: String

  package init(_ statement: String) {
    self.statement = statement
  }

  package var description: String { "broken: \(statement)" }
}

/// - Throws: ``BrokenInvariant`` with `statement` unless it holds.
func require(
  _ holds: Bool, _ statement: @autoclosure () -> String
) throws(BrokenInvariant) {
  guard holds else { throw BrokenInvariant(statement()) }
}
