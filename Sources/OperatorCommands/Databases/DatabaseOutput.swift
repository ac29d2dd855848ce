import EntitlementDomain
import PostgresStore
import Programs

/// The schema of a database.
enum DatabaseOutput {
  /// In JSON: a contract.
  private struct Document: Encodable {
    let version: Int
    let expectedVersion: Int
    let migrations: [Migration]

    struct Migration: Encodable {
      let number: Int
      let name: String
      let appliedAtMs: String?
    }

    init(_ status: SchemaStatus) {
      version = status.found
      expectedVersion = status.expected
      migrations = status.migrations.map {
        Migration(number: $0.number, name: $0.name, appliedAtMs: $0.appliedAt.map { "\($0)" })
      }
    }
  }

  static func write(_ status: SchemaStatus, to output: OutputOptions) throws {
    try output.write(document: Document(status)) { _ in table(status) }
  }

  static func table(_ status: SchemaStatus) -> String {
    var table = TextTable(header: ["MIGRATION", "NAME", "APPLIED"])
    for migration in status.migrations {
      table.add([
        "\(migration.number)", migration.name, migration.appliedAt?.display ?? "-",
      ])
    }
    return table.text
  }

  static func text(of step: MigrationStep) -> String {
    switch step {
    case .waiting(let holder): "another migration is at work, \(holder): waiting for it"
    case .applying(let number, let name): "applying \(number) \(name)"
    case .applied(let number, let name): "applied \(number) \(name)"
    case .wouldApply(let number, let name): "would apply \(number) \(name)"
    }
  }

  /// Nil when the database fits this program.
  static func failure(of status: SchemaStatus) -> CommandFailure? {
    if status.found > status.expected {
      return CommandFailure(.refused, "the database is of a newer program")
    }
    if status.found < status.expected {
      return CommandFailure(.failed, "the database has to be migrated: entitlectl database migrate")
    }
    return nil
  }
}
