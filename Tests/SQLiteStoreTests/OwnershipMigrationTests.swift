import EntitlementStore
import GRDB
import StoreConformance
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("A database of version 6")
struct OwnershipMigrationTests {
  @Test("What two accounts presented is contested or ambiguous after the migration (R70, R71)")
  func ownership() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("entitle.sqlite")
    let old = try SQLiteStore.open(at: path)
    try await OwnershipArchive.fill(old)
    await old.close()
    try VersionFourteenFile.undo(at: path)
    let queue = try DatabaseQueue(path: path)
    try await queue.write { database in
      try database.execute(
        sql: """
          ALTER TABLE accounts DROP COLUMN chains;
          ALTER TABLE chains DROP COLUMN standing;
          ALTER TABLE app_transactions DROP COLUMN standing;
          CREATE TABLE older_tokens (
            scope_id INTEGER NOT NULL REFERENCES scopes (id),
            token TEXT NOT NULL,
            account INTEGER NOT NULL REFERENCES accounts (id),
            PRIMARY KEY (scope_id, token)
          ) STRICT, WITHOUT ROWID;
          INSERT INTO older_tokens SELECT scope_id, token, account FROM account_tokens;
          DROP TABLE account_tokens;
          ALTER TABLE older_tokens RENAME TO account_tokens;
          CREATE INDEX account_tokens_by_account ON account_tokens (account);
          ALTER TABLE grants DROP COLUMN on_behalf_of;
          ALTER TABLE grants DROP COLUMN withdrawn_on_behalf_of;
          ALTER TABLE link_history DROP COLUMN on_behalf_of;
          DROP TABLE audit_entries;
          DROP TABLE audit_heads;
          DROP TABLE audit_seal_chains;
          -- Its trigger keeps seals, also from the deletion that is part of dropping the table.
          DROP TRIGGER audit_seals_are_kept;
          DROP TABLE audit_seals;
          DROP TABLE audit_accounts;
          DROP TABLE app_store_jobs;
          DROP TABLE import_rows;
          DROP TABLE imports;
          DROP TABLE consumption_requests;
          DROP TABLE consumption_consents;
          DROP TABLE payload_dictionaries;
          DROP TABLE payload_conversions;
          PRAGMA user_version = 6;
          """)
    }
    try queue.close()
    let store = try SQLiteStore.open(at: path)
    try await OwnershipArchive.check(store)
    await store.close()
  }
}
