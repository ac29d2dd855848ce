extension Schema {
  /// Version 12: consumption (R86).
  static let version12 = """
    -- What the backend says of the consumption of a purchase, which need not be known, and the App
    -- Store's request for it.
    CREATE TABLE consumption_requests (
      -- AUTOINCREMENT never gives an id twice.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      transaction_id TEXT NOT NULL,
      -- In thousandths of a percent.
      percentage INTEGER,
      -- Apple's word.
      delivery_status TEXT,
      -- A `ConsumptionRequest.State`: 1 is open. NULL, as all that follows, while there is no request.
      state INTEGER,
      -- A `ConsumptionCause`.
      cause INTEGER,
      notification_uuid TEXT,
      reason TEXT,
      requested_at INTEGER,
      detail TEXT,
      attempts INTEGER,
      -- The lease of an attempt that has begun a call.
      sending TEXT,
      opened_at INTEGER,
      changed_at INTEGER,
      UNIQUE (scope_id, transaction_id)
    ) STRICT;
    CREATE INDEX consumption_requests_by_state ON consumption_requests (state)
      WHERE state IS NOT NULL;
    -- Those that are requests, for lists.
    CREATE INDEX consumption_requests_asked ON consumption_requests (id) WHERE state IS NOT NULL;
    CREATE INDEX consumption_requests_open ON consumption_requests (scope_id, requested_at)
      WHERE state = 1;
    -- Consumption (3) is done before other jobs.
    CREATE INDEX app_store_jobs_due_consumption ON app_store_jobs (scope_id, due_at, id)
      WHERE state = 1 AND kind = 3;
    -- Consent of accounts.
    CREATE TABLE consumption_consents (
      account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
      is_given INTEGER NOT NULL,
      at INTEGER NOT NULL,
      author TEXT NOT NULL,
      on_behalf_of TEXT,
      note TEXT NOT NULL
    ) STRICT;
    """
}
