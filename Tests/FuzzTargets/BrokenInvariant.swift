/// An invariant that an input has broken: a finding.
package struct BrokenInvariant: Error, Hashable, Sendable, CustomStringConvertible {
  /// The broken invariant.
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
