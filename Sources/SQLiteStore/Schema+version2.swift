extension Schema {
  /// Version 2: the authority of facts, grants of operators, and events in the feed.
  static let version2 = """
    -- A `FactAuthority`. Everything that was kept before came as a JWS.
    ALTER TABLE facts ADD COLUMN authority INTEGER NOT NULL DEFAULT 2;

    -- What operators gave, withdrawn ones included.
    CREATE TABLE grants (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      grant_id TEXT NOT NULL,
      account INTEGER NOT NULL REFERENCES accounts (id),
      entitlement_id TEXT NOT NULL,
      starts INTEGER NOT NULL,
      -- NULL when it has no end.
      expires INTEGER,
      reason TEXT NOT NULL,
      author TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      -- All three are NULL while it stands.
      withdrawn_at INTEGER,
      withdrawn_by TEXT,
      withdrawal_reason TEXT,
      UNIQUE (scope_id, grant_id),
      CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL)),
      CHECK ((withdrawn_at IS NULL) = (withdrawal_reason IS NULL))
    ) STRICT;
    -- In the order in which they are listed.
    CREATE INDEX grants_by_account ON grants (account, created_at, grant_id);

    -- The feed, anew: a change names its scope, and events may concern no customer that is known
    -- (16 is `ChangeKinds.events`).
    CREATE TABLE changes_with_scope (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      account INTEGER REFERENCES accounts (id),
      chain_id INTEGER REFERENCES chains (id),
      kinds INTEGER NOT NULL,
      committed_at INTEGER NOT NULL,
      CHECK (account IS NULL OR chain_id IS NULL),
      CHECK (account IS NOT NULL OR chain_id IS NOT NULL OR kinds = 16)
    ) STRICT;
    INSERT INTO changes_with_scope (sequence, scope_id, account, chain_id, kinds, committed_at)
      SELECT changes.sequence, COALESCE(accounts.scope_id, chains.scope_id), changes.account,
        changes.chain_id, changes.kinds, changes.committed_at
      FROM changes
        LEFT JOIN accounts ON accounts.id = changes.account
        LEFT JOIN chains ON chains.id = changes.chain_id
      ORDER BY changes.sequence;
    -- AUTOINCREMENT goes on from where it was, even if the last changes were deleted.
    DELETE FROM sqlite_sequence WHERE name = 'changes_with_scope';
    INSERT INTO sqlite_sequence (name, seq)
      SELECT 'changes_with_scope', seq FROM sqlite_sequence WHERE name = 'changes';
    DROP TABLE changes;
    ALTER TABLE changes_with_scope RENAME TO changes;

    -- What notifications asked for, by the change that tells of it. Identifiers stay as the event
    -- has them: it may speak of a transaction that is not known.
    CREATE TABLE change_events (
      sequence INTEGER NOT NULL REFERENCES changes (sequence),
      -- From 0, in the order in which the events were found.
      position INTEGER NOT NULL,
      -- A `FeedEventKind`.
      kind INTEGER NOT NULL,
      notification_uuid TEXT NOT NULL,
      original_transaction_id TEXT,
      transaction_id TEXT,
      deadline INTEGER,
      -- A `RefetchReason`.
      refetch_reason INTEGER,
      detail TEXT,
      PRIMARY KEY (sequence, position)
    ) STRICT, WITHOUT ROWID;
    """
}
