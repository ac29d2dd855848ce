import CEntitleMessages
package import EntitlementDomain

/// What became of an attempt to put another catalog in force.
package struct CatalogAttempt: Hashable, Sendable {
  package var at: Milliseconds
  /// False when the file was not valid, or could not be read: the old one stays in force.
  package var isValid: Bool
  /// SHA-256 of the file, hexadecimal; nil when it could not be read.
  package var digest: String?
  /// Everything wrong or doubtful, in the order of the file.
  package var issues: [CatalogIssue]
  /// Why the file could not be read; nil when it could.
  package var failure: String?

  package init(
    at: Milliseconds, isValid: Bool, digest: String? = nil, issues: [CatalogIssue] = [],
    failure: String? = nil
  ) {
    self.at = at
    self.isValid = isValid
    self.digest = digest
    self.issues = issues
    self.failure = failure
  }
}

extension CatalogAttempt: MappedMessage {
  static let shape = MessageShape(entitle__v1__catalog_attempt__init)

  init(reading message: Entitle__V1__CatalogAttempt) throws(MessageError) {
    at = Milliseconds(message.at_ms)
    isValid = message.valid != 0
    digest = Self.optionalText(message.digest)
    issues = try Self.list(message.issues, count: message.n_issues, of: CatalogIssue.self)
    failure = Self.optionalText(message.failure)
  }

  func write(
    to message: inout Entitle__V1__CatalogAttempt, in arena: MessageArena
  ) throws(MessageError) {
    message.at_ms = at.rawValue
    message.valid = isValid ? 1 : 0
    message.digest = try Self.text(digest, "digest", in: arena)
    message.n_issues = issues.count
    message.issues = try Self.list(issues, in: arena)
    message.failure = try Self.text(failure, "failure", in: arena)
  }
}
