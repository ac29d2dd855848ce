extension Schema {
  /// Version 11: jobs of the App Store Server API (R79).
  static let version11 = """
    -- Work with the App Store Server API: one job for each chain, and one for each app and environment.
    CREATE TABLE app_store_jobs (
      -- AUTOINCREMENT never gives an id twice.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- An `AppStoreJobKind`.
      kind INTEGER NOT NULL,
      -- The original transaction id of a refetch, which need not be known; empty for a reconciliation.
      chain TEXT NOT NULL,
      -- An `AppStoreJob.State`: 1 is open.
      state INTEGER NOT NULL,
      opening INTEGER NOT NULL,
      -- A bit for each `RefetchReason`.
      reasons INTEGER NOT NULL,
      opened_at INTEGER NOT NULL,
      changed_at INTEGER NOT NULL,
      -- Of a leased job: when its lease ends.
      due_at INTEGER NOT NULL,
      -- NULL when it is not leased.
      lease TEXT,
      failures INTEGER NOT NULL,
      unexplained INTEGER NOT NULL,
      last_failure TEXT NOT NULL,
      since INTEGER,
      complete_until INTEGER,
      cursor TEXT NOT NULL,
      calls INTEGER NOT NULL,
      payloads INTEGER NOT NULL,
      added INTEGER NOT NULL,
      refused INTEGER NOT NULL,
      UNIQUE (scope_id, kind, chain)
    ) STRICT;
    CREATE INDEX app_store_jobs_due ON app_store_jobs (scope_id, due_at) WHERE state = 1;
    CREATE INDEX app_store_jobs_by_state ON app_store_jobs (state);
    """
}
