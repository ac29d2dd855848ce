extension Schema {
  /// Version 7: what links and tokens rest on.
  static let version7 = """
    -- A LinkStanding. What two accounts claimed before is contested.
    ALTER TABLE chains ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
    UPDATE chains SET standing = 2
      WHERE account IS NOT NULL AND id IN (
        SELECT chain_id FROM link_history WHERE reason = 'claimed' AND chain_id IS NOT NULL);
    ALTER TABLE app_transactions ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
    UPDATE app_transactions SET standing = 2
      WHERE account IS NOT NULL AND EXISTS (
        SELECT 1 FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
        WHERE facts.scope_id = app_transactions.scope_id AND facts.authority > 0
          AND facts.app_transaction_id = app_transactions.app_transaction_id
          AND chains.account <> app_transactions.account);

    -- The tokens with their state (AccountTokenState). Those known before were learned; one that a
    -- chain of another account carries is ambiguous.
    CREATE TABLE known_tokens (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      token TEXT NOT NULL,
      -- NULL: an ambiguous token whose first account was deleted.
      account INTEGER REFERENCES accounts (id),
      state INTEGER NOT NULL,
      -- Who bound it and why; NULL for other tokens.
      author TEXT,
      note TEXT,
      -- NULL for tokens of earlier versions.
      since INTEGER,
      PRIMARY KEY (scope_id, token),
      CHECK (account IS NOT NULL OR state = 2)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO known_tokens (scope_id, token, account, state)
      SELECT scope_id, token, account, CASE WHEN EXISTS (
          SELECT 1 FROM facts CROSS JOIN chains ON chains.id = facts.chain_id
          WHERE facts.scope_id = account_tokens.scope_id
            AND facts.app_account_token = account_tokens.token
            AND chains.account <> account_tokens.account) THEN 2 ELSE 1 END
      FROM account_tokens;
    DROP TABLE account_tokens;
    ALTER TABLE known_tokens RENAME TO account_tokens;
    CREATE INDEX account_tokens_by_account ON account_tokens (account, token)
      WHERE account IS NOT NULL;
    CREATE INDEX account_tokens_ambiguous ON account_tokens (scope_id, token) WHERE state = 2;
    """
}
