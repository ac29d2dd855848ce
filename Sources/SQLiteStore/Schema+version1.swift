extension Schema {
  /// Version 1: facts, links, the feed and notifications.
  static let version1 = """
    -- An app in an environment. As many as the operator has apps, times four.
    CREATE TABLE scopes (
      id INTEGER PRIMARY KEY,
      environment TEXT NOT NULL,
      bundle_id TEXT NOT NULL,
      UNIQUE (environment, bundle_id)
    ) STRICT;

    -- The JWS header of each signer, once: some 4 kB that all its payloads share.
    CREATE TABLE headers (
      id INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL UNIQUE
    ) STRICT;

    -- Customers. Rows stay when an account has lost its chains, for the history.
    CREATE TABLE accounts (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      account_id TEXT NOT NULL,
      -- Sequence number of the latest change, and when it was made.
      revision INTEGER NOT NULL DEFAULT 0,
      updated_at INTEGER NOT NULL,
      UNIQUE (scope_id, account_id)
    ) STRICT;

    CREATE TABLE chains (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      original_transaction_id TEXT NOT NULL,
      account INTEGER REFERENCES accounts (id),
      -- Sequence number of the latest change as an unlinked chain, and when it was made.
      revision INTEGER NOT NULL DEFAULT 0,
      updated_at INTEGER NOT NULL DEFAULT 0,
      UNIQUE (scope_id, original_transaction_id)
    ) STRICT;
    CREATE INDEX chains_by_account ON chains (account) WHERE account IS NOT NULL;

    -- The standing version of each fact. A row is wider than a WITHOUT ROWID table likes.
    CREATE TABLE facts (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      kind INTEGER NOT NULL,
      identifier TEXT NOT NULL,
      -- NULL for app transactions, as are the three hints after it.
      chain_id INTEGER REFERENCES chains (id),
      app_transaction_id TEXT,
      app_account_token TEXT,
      previous_chain TEXT,
      signed_date INTEGER NOT NULL,
      is_revoked INTEGER NOT NULL,
      is_upgraded INTEGER NOT NULL,
      digest BLOB NOT NULL,
      header_id INTEGER NOT NULL REFERENCES headers (id),
      payload BLOB NOT NULL,
      signature BLOB NOT NULL,
      UNIQUE (scope_id, kind, identifier)
    ) STRICT;
    CREATE INDEX facts_by_chain ON facts (chain_id) WHERE chain_id IS NOT NULL;
    CREATE INDEX facts_by_app_transaction ON facts (scope_id, app_transaction_id, chain_id)
      WHERE app_transaction_id IS NOT NULL;
    CREATE INDEX facts_by_token ON facts (scope_id, app_account_token, chain_id)
      WHERE app_account_token IS NOT NULL;
    CREATE INDEX facts_by_previous_chain ON facts (scope_id, previous_chain, chain_id)
      WHERE previous_chain IS NOT NULL;

    -- The account of each app transaction id, whether or not its fact is known.
    CREATE TABLE app_transactions (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      app_transaction_id TEXT NOT NULL,
      account INTEGER NOT NULL REFERENCES accounts (id),
      PRIMARY KEY (scope_id, app_transaction_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX app_transactions_by_account ON app_transactions (account);

    CREATE TABLE account_tokens (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      token TEXT NOT NULL,
      account INTEGER NOT NULL REFERENCES accounts (id),
      PRIMARY KEY (scope_id, token)
    ) STRICT, WITHOUT ROWID;

    -- Of a chain, or of an app transaction, whose name is then given.
    CREATE TABLE link_history (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      chain_id INTEGER REFERENCES chains (id),
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      app_transaction_id TEXT,
      from_account INTEGER REFERENCES accounts (id),
      to_account INTEGER REFERENCES accounts (id),
      reason TEXT NOT NULL,
      at INTEGER NOT NULL,
      CHECK ((chain_id IS NULL) <> (app_transaction_id IS NULL))
    ) STRICT;
    CREATE INDEX link_history_by_chain ON link_history (chain_id) WHERE chain_id IS NOT NULL;

    -- The feed. AUTOINCREMENT never gives a number twice, and one writer gives them in commit
    -- order; a rollback takes its numbers back, so there are no gaps.
    CREATE TABLE changes (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      account INTEGER REFERENCES accounts (id),
      chain_id INTEGER REFERENCES chains (id),
      kinds INTEGER NOT NULL,
      committed_at INTEGER NOT NULL,
      CHECK ((account IS NULL) <> (chain_id IS NULL))
    ) STRICT;

    CREATE TABLE notifications (
      id INTEGER PRIMARY KEY,
      uuid TEXT NOT NULL UNIQUE,
      scope_id INTEGER REFERENCES scopes (id),
      type TEXT NOT NULL,
      subtype TEXT,
      status INTEGER,
      signed_date INTEGER,
      received_at INTEGER NOT NULL,
      digest BLOB NOT NULL,
      header_id INTEGER NOT NULL REFERENCES headers (id),
      payload BLOB NOT NULL,
      signature BLOB NOT NULL
    ) STRICT;
    """
}
