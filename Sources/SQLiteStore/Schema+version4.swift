extension Schema {
  /// Version 4: merged and deleted accounts, detached links, and trimming of the feed.
  static let version4 = """
    -- The account that it was merged into, which is never merged itself.
    ALTER TABLE accounts ADD COLUMN merged_into INTEGER REFERENCES accounts (id);
    -- 1: a tombstone, which keeps the revision for as long as the feed tells of the deletion.
    ALTER TABLE accounts ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0;
    -- Claims of others' purchases that were granted since a moment, which is NULL before the first.
    ALTER TABLE accounts ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE accounts ADD COLUMN claims_since INTEGER;
    CREATE INDEX accounts_by_merger ON accounts (merged_into) WHERE merged_into IS NOT NULL;
    CREATE INDEX accounts_deleted ON accounts (revision) WHERE is_deleted = 1;
    -- Those that lists show: of an app with anonymous accounts, most others have been merged.
    CREATE INDEX accounts_listed ON accounts (scope_id, account_id)
      WHERE merged_into IS NULL AND is_deleted = 0;

    -- 1: an operator took it from its account, and hints do not lead it to one.
    ALTER TABLE chains ADD COLUMN is_detached INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX chains_unlinked ON chains (scope_id, original_transaction_id)
      WHERE account IS NULL;

    -- App transaction ids, anew: one that was taken from its account has none.
    CREATE TABLE app_transactions_with_flags (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      app_transaction_id TEXT NOT NULL,
      account INTEGER REFERENCES accounts (id),
      is_link_unsigned INTEGER NOT NULL DEFAULT 0,
      is_detached INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (scope_id, app_transaction_id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO app_transactions_with_flags
        (scope_id, app_transaction_id, account, is_link_unsigned)
      SELECT scope_id, app_transaction_id, account, is_link_unsigned FROM app_transactions;
    DROP TABLE app_transactions;
    ALTER TABLE app_transactions_with_flags RENAME TO app_transactions;
    CREATE INDEX app_transactions_by_account ON app_transactions (account)
      WHERE account IS NOT NULL;

    CREATE INDEX account_tokens_by_account ON account_tokens (account);

    -- Who asked for it and why, in their words; NULL when a submission brought it about.
    ALTER TABLE link_history ADD COLUMN author TEXT;
    ALTER TABLE link_history ADD COLUMN note TEXT;
    -- 1: the account was deleted since, and its name with it.
    ALTER TABLE link_history ADD COLUMN is_from_erased INTEGER NOT NULL DEFAULT 0
      CHECK (is_from_erased = 0 OR from_account IS NULL);
    ALTER TABLE link_history ADD COLUMN is_to_erased INTEGER NOT NULL DEFAULT 0
      CHECK (is_to_erased = 0 OR to_account IS NULL);
    CREATE INDEX link_history_by_app_transaction ON link_history (scope_id, app_transaction_id)
      WHERE app_transaction_id IS NOT NULL;
    CREATE INDEX link_history_by_former ON link_history (from_account)
      WHERE from_account IS NOT NULL;
    CREATE INDEX link_history_by_latter ON link_history (to_account) WHERE to_account IS NOT NULL;

    -- The chain that it speaks of. Of those that came before, the events tell it, where there are.
    ALTER TABLE notifications ADD COLUMN chain_id INTEGER REFERENCES chains (id);
    CREATE TABLE spoken_of (
      uuid TEXT PRIMARY KEY,
      chain_id INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO spoken_of
      SELECT change_events.notification_uuid, chains.id
      FROM change_events
        CROSS JOIN changes ON changes.sequence = change_events.sequence
        CROSS JOIN chains ON chains.scope_id = changes.scope_id
          AND chains.original_transaction_id = change_events.original_transaction_id;
    UPDATE notifications
      SET chain_id = (SELECT chain_id FROM spoken_of WHERE spoken_of.uuid = notifications.uuid)
      WHERE uuid IN (SELECT uuid FROM spoken_of);
    DROP TABLE spoken_of;
    CREATE INDEX notifications_by_chain ON notifications (chain_id) WHERE chain_id IS NOT NULL;

    -- The feed, anew. Its entries name accounts without a reference, which every deletion of a
    -- tombstone would follow through all of the feed: tombstones go after the entries that name
    -- them. Numbers are given by the writer, in commit order and without gaps.
    CREATE TABLE kept_changes (
      sequence INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      account INTEGER,
      chain_id INTEGER REFERENCES chains (id),
      kinds INTEGER NOT NULL,
      committed_at INTEGER NOT NULL,
      CHECK (account IS NULL OR chain_id IS NULL),
      CHECK (account IS NOT NULL OR chain_id IS NOT NULL OR kinds = 16)
    ) STRICT;
    INSERT INTO kept_changes (sequence, scope_id, account, chain_id, kinds, committed_at)
      SELECT sequence, scope_id, account, chain_id, kinds, committed_at FROM changes
      ORDER BY sequence;
    -- One row: up to where the feed was trimmed. A number that was given is at most this, or is
    -- that of the last change, or is lower: so none is given twice.
    CREATE TABLE feed (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      trimmed_through INTEGER NOT NULL
    ) STRICT;
    INSERT INTO feed
      SELECT 1, COALESCE(
        (SELECT MIN(sequence) - 1 FROM changes),
        (SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0);
    CREATE TABLE kept_events (
      sequence INTEGER NOT NULL REFERENCES kept_changes (sequence),
      position INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      notification_uuid TEXT NOT NULL,
      original_transaction_id TEXT,
      transaction_id TEXT,
      deadline INTEGER,
      refetch_reason INTEGER,
      detail TEXT,
      PRIMARY KEY (sequence, position)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO kept_events SELECT * FROM change_events;
    DROP TABLE change_events;
    DROP TABLE changes;
    ALTER TABLE kept_changes RENAME TO changes;
    ALTER TABLE kept_events RENAME TO change_events;
    """
}
