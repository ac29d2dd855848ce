extension Schema {
  /// Version 13: imports of accounts (R89).
  static let version13 = """
    CREATE TABLE imports (
      -- AUTOINCREMENT never gives an id twice.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      bundle_id TEXT NOT NULL,
      author TEXT NOT NULL,
      began_at INTEGER NOT NULL,
      -- How many rows were stored for it.
      rows INTEGER NOT NULL
    ) STRICT;
    -- A customer that a team named: its account and a transaction, of which the App Store is asked.
    CREATE TABLE import_rows (
      import_id INTEGER NOT NULL REFERENCES imports (id),
      number INTEGER NOT NULL,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      falls_back INTEGER NOT NULL,
      -- The account need not be known.
      account TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      token TEXT,
      -- An `AccountImportRow.State`: 1 is waiting, 2 done, 3 failed, 5 cancelled.
      state INTEGER NOT NULL,
      -- An `AccountImportRow.Reason`; 0 for none, 1 is invalid.
      reason INTEGER NOT NULL,
      detail TEXT NOT NULL,
      -- Of a leased row: when its lease ends.
      due_at INTEGER NOT NULL,
      lease TEXT,
      failures INTEGER NOT NULL,
      refusals INTEGER NOT NULL,
      cursor TEXT NOT NULL,
      changed_at INTEGER NOT NULL,
      PRIMARY KEY (import_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX import_rows_by_state ON import_rows (import_id, state, reason);
    CREATE INDEX import_rows_by_number ON import_rows (import_id, state, number);
    CREATE INDEX import_rows_due ON import_rows (scope_id, due_at) WHERE state = 1;
    CREATE INDEX import_rows_by_transaction ON import_rows (scope_id, transaction_id);
    CREATE INDEX import_rows_by_account ON import_rows (scope_id, account);
    """
}
