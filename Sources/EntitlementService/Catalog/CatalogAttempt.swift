package import EntitlementDomain

/// What became of an attempt to put another catalog in force.
package struct CatalogAttempt: Hashable, Sendable {
  package let at: Milliseconds
  /// SHA-256 of the file, hexadecimal; nil when it could not be read.
  package let digest: String?
  /// Everything wrong or doubtful, in the order of the file, as far as its reader tells it.
  package let issues: [CatalogIssue]
  /// Why the file could not be read; nil when it could.
  package let failure: String?
  /// The file can be in force; otherwise the old one stays.
  package let isValid: Bool

  package init(
    at: Milliseconds, digest: String?, issues: [CatalogIssue] = [], failure: String? = nil
  ) {
    self.at = at
    self.digest = digest
    self.issues = issues
    self.failure = failure
    isValid = failure == nil && !issues.contains { $0.severity == .error }
  }
}
