package import EntitlementDomain

/// Which steps of the schema a database has.
package struct SchemaStatus: Hashable, Sendable {
  package struct Migration: Hashable, Sendable {
    package var number: Int
    package var name: String
    /// Nil when it was not applied yet.
    package var appliedAt: Milliseconds?

    package init(number: Int, name: String, appliedAt: Milliseconds?) {
      self.number = number
      self.name = name
      self.appliedAt = appliedAt
    }
  }

  /// The number of the last step that was applied; 0 when none was.
  package var found: Int
  /// The number of the last step that this program knows, and needs.
  package var expected: Int
  /// Those that this program knows, and those that the database has beyond.
  package var migrations: [Migration]

  package init(found: Int, expected: Int, migrations: [Migration]) {
    self.found = found
    self.expected = expected
    self.migrations = migrations
  }
}

/// What a migration does at a moment.
package enum MigrationStep: Hashable, Sendable {
  /// Another one is at work; who that is, as the server knows it.
  case waiting(holder: String)
  case applying(number: Int, name: String)
  case applied(number: Int, name: String)
  /// Of a dry run: it was not applied.
  case wouldApply(number: Int, name: String)
}
