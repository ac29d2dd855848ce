package import EntitlementDomain

/// A customer's state at one moment, as a scenario would expect it.
package struct FoundState: Sendable {
  /// Of the step that asked, from 1.
  package let line: Int
  package let at: Milliseconds
  /// A step in the form of a scenario file.
  package let text: String
}
