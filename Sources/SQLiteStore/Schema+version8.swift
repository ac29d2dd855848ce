extension Schema {
  /// Version 8: the audit trail.
  static let version8 = """
    -- The entries of the audit trail (R76), each chain in the order of its positions. They hold no id
    -- of a customer: `account` and `former_account` are pseudonyms.
    CREATE TABLE audit_entries (
      chain TEXT NOT NULL,
      position INTEGER NOT NULL,
      node TEXT NOT NULL,
      at INTEGER NOT NULL,
      peer TEXT NOT NULL,
      method TEXT NOT NULL,
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      account TEXT NOT NULL,
      former_account TEXT NOT NULL,
      author TEXT NOT NULL,
      reason TEXT NOT NULL,
      subject TEXT NOT NULL,
      outcome TEXT NOT NULL,
      previous TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (chain, position)
    ) STRICT;
    CREATE INDEX audit_entries_by_time ON audit_entries (at, chain, position);

    -- The last entry of each chain. `sealed_position` and `removed_position` are those of the last
    -- seal that names the chain.
    CREATE TABLE audit_heads (
      chain TEXT NOT NULL PRIMARY KEY,
      position INTEGER NOT NULL,
      hash TEXT NOT NULL,
      sealed_position INTEGER NOT NULL,
      removed_position INTEGER NOT NULL,
      removed_hash TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_heads_unsealed ON audit_heads (chain) WHERE position <> sealed_position;

    CREATE TABLE audit_seals (
      number INTEGER NOT NULL PRIMARY KEY,
      at INTEGER NOT NULL,
      node TEXT NOT NULL,
      previous TEXT NOT NULL,
      hash TEXT NOT NULL
    ) STRICT;
    CREATE TABLE audit_seal_chains (
      number INTEGER NOT NULL REFERENCES audit_seals (number),
      chain TEXT NOT NULL,
      position INTEGER NOT NULL,
      hash TEXT NOT NULL,
      removed_position INTEGER NOT NULL,
      removed_hash TEXT NOT NULL,
      PRIMARY KEY (number, chain)
    ) STRICT;

    -- The only place that tells whose an entry is. A row is erased with its account (R77).
    CREATE TABLE audit_accounts (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      account TEXT NOT NULL,
      pseudonym TEXT NOT NULL,
      PRIMARY KEY (scope_id, account)
    ) STRICT;

    -- Against mistakes: an entry is never changed, and a seal neither changed nor removed.
    CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_seals_stay BEFORE UPDATE ON audit_seals
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_seals_are_kept BEFORE DELETE ON audit_seals
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    """
}
