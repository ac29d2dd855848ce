extension Schema {
  /// Version 14: compressed payloads, and smaller indexes. Payloads of former versions are converted in
  /// the background.
  static let version14 = """
    -- Dictionaries that were trained on payloads of this database. Number 1 comes with the program.
    -- Payloads refer to them, so they are never changed nor deleted.
    CREATE TABLE payload_dictionaries (
      number INTEGER PRIMARY KEY CHECK (number BETWEEN 2 AND 4294967295),
      bytes BLOB NOT NULL,
      -- The SHA-256 of the bytes: other text in a dictionary gives other payloads.
      digest BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      -- How many payloads it was trained on.
      samples INTEGER NOT NULL
    ) STRICT;

    -- How far the payloads of each table are in the present form (`PayloadTable`).
    CREATE TABLE payload_conversions (
      payload_table TEXT PRIMARY KEY,
      dictionary INTEGER NOT NULL,
      -- The id of the last row that was looked at.
      position INTEGER NOT NULL,
      row_count INTEGER NOT NULL,
      bytes_before INTEGER NOT NULL,
      bytes_after INTEGER NOT NULL,
      damaged_rows INTEGER NOT NULL,
      -- NULL until the last row was looked at.
      ended_at INTEGER
    ) STRICT, WITHOUT ROWID;
    -- An empty table has nothing to convert.
    INSERT INTO payload_conversions
      SELECT 'facts', 1, 0, 0, 0, 0, 0,
        iif(EXISTS (SELECT 1 FROM facts), NULL, CAST(strftime('%s', 'now') AS INTEGER) * 1000)
      UNION ALL SELECT 'versions', 1, 0, 0, 0, 0, 0,
        iif(EXISTS (SELECT 1 FROM versions), NULL, CAST(strftime('%s', 'now') AS INTEGER) * 1000)
      UNION ALL SELECT 'notifications', 1, 0, 0, 0, 0, 0,
        iif(EXISTS (SELECT 1 FROM notifications), NULL,
          CAST(strftime('%s', 'now') AS INTEGER) * 1000)
      UNION ALL SELECT 'documents', 1, 0, 0, 0, 0, 0,
        iif(EXISTS (SELECT 1 FROM documents), NULL, CAST(strftime('%s', 'now') AS INTEGER) * 1000);

    -- Indexes of parts of long identifiers. Statements compare the part and then the whole, so that two
    -- identifiers with the same part cost a look at a row. The part of a token has 32 random bits, and
    -- that of an id of an app transaction is its number: other text gives a number, too.
    DROP INDEX facts_by_token;
    CREATE INDEX facts_by_token ON facts (scope_id, substr(app_account_token, 1, 8))
      WHERE app_account_token IS NOT NULL;
    DROP INDEX facts_by_app_transaction;
    CREATE INDEX facts_by_app_transaction
      ON facts (scope_id, CAST(app_transaction_id AS INTEGER))
      WHERE app_transaction_id IS NOT NULL;
    DROP INDEX link_history_by_app_transaction;
    CREATE INDEX link_history_by_app_transaction
      ON link_history (scope_id, CAST(app_transaction_id AS INTEGER))
      WHERE app_transaction_id IS NOT NULL;
    """
}
