extension Schema {
  /// Version 15: packed ids (``PackedIdentifier``), smaller indexes of hints, and digests of half the
  /// length (``PayloadDigest``). The type of a column of a STRICT table cannot change, so new tables
  /// replace the former ones. Each is filled in the order of its key, and gets its indexes after that. `packed_id` and
  /// `packed_app_transaction_id` are functions of the program. Row ids stay.
  static let version15 = """
    CREATE TABLE packed_facts (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      kind INTEGER NOT NULL,
      identifier BLOB NOT NULL,
      -- NULL for app transactions, as are the three hints after it.
      chain_id INTEGER REFERENCES chains (id),
      app_transaction_id BLOB,
      app_account_token BLOB,
      previous_chain BLOB,
      -- A `FactAuthority`.
      authority INTEGER NOT NULL,
      signed_date INTEGER NOT NULL,
      is_revoked INTEGER NOT NULL,
      is_upgraded INTEGER NOT NULL,
      header_id INTEGER NOT NULL REFERENCES headers (id),
      -- NULL for what came as a JWS. What is out of a document has the empty header and no signature.
      document_id INTEGER REFERENCES documents (id),
      digest BLOB NOT NULL,
      payload BLOB NOT NULL,
      signature BLOB NOT NULL,
      -- A `FactHistory`; NULL for one version that was signed once.
      history BLOB,
      -- The payload of a `FactSupplement`; NULL for most facts.
      supplement BLOB,
      CHECK (document_id IS NULL OR length(signature) = 0)
    ) STRICT;
    INSERT INTO packed_facts
      SELECT id, scope_id, kind,
        iif(kind = 3, packed_app_transaction_id(identifier), packed_id(identifier)), chain_id,
        packed_id(app_transaction_id), packed_id(app_account_token), packed_id(previous_chain),
        authority, signed_date, is_revoked, is_upgraded, header_id, document_id,
        substr(digest, 1, 16), payload, signature, history, NULL
      FROM facts ORDER BY id;
    DROP TABLE facts;
    ALTER TABLE packed_facts RENAME TO facts;
    CREATE UNIQUE INDEX facts_by_identifier ON facts (scope_id, kind, identifier);
    CREATE INDEX facts_by_chain ON facts (chain_id) WHERE chain_id IS NOT NULL;
    -- Statements compare the part and then the whole, so that two ids with the same part cost a look at
    -- a row. Of a token, the tag and 32 random bits; of an id of an app transaction, its last ten
    -- digits: the first ones are alike.
    CREATE INDEX facts_by_token ON facts (scope_id, substr(app_account_token, 1, 5))
      WHERE app_account_token IS NOT NULL;
    CREATE INDEX facts_by_app_transaction ON facts (scope_id, substr(app_transaction_id, -5))
      WHERE app_transaction_id IS NOT NULL;
    CREATE INDEX facts_by_previous_chain ON facts (scope_id, previous_chain, chain_id)
      WHERE previous_chain IS NOT NULL;
    CREATE INDEX facts_by_document ON facts (document_id) WHERE document_id IS NOT NULL;

    CREATE TABLE packed_chains (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      original_transaction_id BLOB NOT NULL,
      account INTEGER REFERENCES accounts (id),
      -- Sequence number of the latest change as an unlinked chain, and when it was made.
      revision INTEGER NOT NULL DEFAULT 0,
      updated_at INTEGER NOT NULL DEFAULT 0,
      -- 1: nobody signed what the account was named with, so the link leads nothing else to it.
      is_link_unsigned INTEGER NOT NULL,
      -- 1: an operator took it from its account, and hints do not lead it to one.
      is_detached INTEGER NOT NULL,
      -- 1: a signed transaction of another chain was once of this one. It names the app of the chain.
      is_former_chain INTEGER NOT NULL,
      -- A `LinkStanding`.
      standing INTEGER NOT NULL
    ) STRICT;
    INSERT INTO packed_chains
      SELECT id, scope_id, packed_id(original_transaction_id), account, revision, updated_at,
        is_link_unsigned, is_detached, is_former_chain, standing
      FROM chains ORDER BY id;
    DROP TABLE chains;
    ALTER TABLE packed_chains RENAME TO chains;
    CREATE UNIQUE INDEX chains_by_identifier ON chains (scope_id, original_transaction_id);
    CREATE INDEX chains_by_account ON chains (account) WHERE account IS NOT NULL;
    CREATE INDEX chains_unlinked ON chains (scope_id, original_transaction_id)
      WHERE account IS NULL;

    -- The account of each app transaction id, whether or not its fact is known; NULL for one that was
    -- taken from its account.
    CREATE TABLE packed_app_transactions (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      app_transaction_id BLOB NOT NULL,
      account INTEGER REFERENCES accounts (id),
      is_link_unsigned INTEGER NOT NULL,
      is_detached INTEGER NOT NULL,
      standing INTEGER NOT NULL,
      PRIMARY KEY (scope_id, app_transaction_id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO packed_app_transactions
      SELECT scope_id, packed_app_transaction_id(app_transaction_id), account, is_link_unsigned,
        is_detached, standing
      FROM app_transactions ORDER BY scope_id, app_transaction_id;
    DROP TABLE app_transactions;
    ALTER TABLE packed_app_transactions RENAME TO app_transactions;
    CREATE INDEX app_transactions_by_account ON app_transactions (account)
      WHERE account IS NOT NULL;

    CREATE TABLE packed_tokens (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      token BLOB NOT NULL,
      -- NULL: an ambiguous token whose first account was deleted.
      account INTEGER REFERENCES accounts (id),
      -- An `AccountTokenState`.
      state INTEGER NOT NULL,
      -- Who bound it and why; NULL for other tokens.
      author TEXT,
      note TEXT,
      -- NULL for tokens of versions before 7.
      since INTEGER,
      on_behalf_of TEXT,
      PRIMARY KEY (scope_id, token),
      CHECK (account IS NOT NULL OR state = 2)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO packed_tokens
      SELECT scope_id, packed_id(token), account, state, author, note, since, on_behalf_of
      FROM account_tokens ORDER BY scope_id, token;
    DROP TABLE account_tokens;
    ALTER TABLE packed_tokens RENAME TO account_tokens;
    CREATE INDEX account_tokens_by_account ON account_tokens (account, token)
      WHERE account IS NOT NULL;
    CREATE INDEX account_tokens_ambiguous ON account_tokens (scope_id, token) WHERE state = 2;

    -- Of a chain, or of an app transaction, whose id is then given.
    CREATE TABLE packed_history (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      chain_id INTEGER REFERENCES chains (id),
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      app_transaction_id BLOB,
      from_account INTEGER REFERENCES accounts (id),
      to_account INTEGER REFERENCES accounts (id),
      -- `LinkReason.storedNumber`.
      reason INTEGER NOT NULL,
      at INTEGER NOT NULL,
      -- Who caused it (`LinkAuthor`); NULL where that is not known.
      author INTEGER REFERENCES headers (id),
      -- Why it was asked for, in the caller's words; NULL when a submission brought it about.
      note TEXT,
      -- 1: the account was deleted since, and its name with it.
      is_from_erased INTEGER NOT NULL CHECK (is_from_erased = 0 OR from_account IS NULL),
      is_to_erased INTEGER NOT NULL CHECK (is_to_erased = 0 OR to_account IS NULL),
      on_behalf_of TEXT,
      -- The id of the trace of the call that caused it; NULL if it was not traced.
      trace BLOB,
      CHECK ((chain_id IS NULL) <> (app_transaction_id IS NULL))
    ) STRICT;
    -- The authors, each once, as `LinkAuthor` encodes them.
    INSERT INTO headers (bytes)
      SELECT DISTINCT CAST('author' || char(10) || author AS BLOB)
      FROM link_history
      WHERE author IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM headers
        WHERE bytes = CAST('author' || char(10) || link_history.author AS BLOB));
    -- Another reason, which no program stored, stays an error of those who read it.
    INSERT INTO packed_history
      SELECT id, chain_id, scope_id, packed_app_transaction_id(app_transaction_id), from_account,
        to_account,
        CASE reason WHEN 'named' THEN 0 WHEN 'claimed' THEN 1 WHEN 'appAccountToken' THEN 2
          WHEN 'appTransaction' THEN 3 WHEN 'previousChain' THEN 4 WHEN 'imported' THEN 5
          WHEN 'merged' THEN 6 WHEN 'assigned' THEN 7 WHEN 'unassigned' THEN 8
          WHEN 'transferred' THEN 9 WHEN 'deleted' THEN 10 ELSE -1 END,
        at,
        (SELECT headers.id FROM headers
          WHERE bytes = CAST('author' || char(10) || author AS BLOB)),
        note, is_from_erased, is_to_erased, on_behalf_of, NULL
      FROM link_history ORDER BY id;
    DROP TABLE link_history;
    ALTER TABLE packed_history RENAME TO link_history;
    CREATE INDEX link_history_by_chain ON link_history (chain_id) WHERE chain_id IS NOT NULL;
    CREATE INDEX link_history_by_app_transaction
      ON link_history (scope_id, substr(app_transaction_id, -5))
      WHERE app_transaction_id IS NOT NULL;
    CREATE INDEX link_history_by_former ON link_history (from_account)
      WHERE from_account IS NOT NULL;
    CREATE INDEX link_history_by_latter ON link_history (to_account) WHERE to_account IS NOT NULL;

    -- The last refused claim of each account on each chain or app transaction.
    CREATE TABLE refused_claims (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      is_chain INTEGER NOT NULL,
      identifier BLOB NOT NULL,
      -- The account need not be known.
      claimer TEXT NOT NULL,
      at INTEGER NOT NULL,
      -- A `LinkAuthor`.
      author INTEGER REFERENCES headers (id),
      trace BLOB,
      PRIMARY KEY (scope_id, is_chain, identifier, claimer)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refused_claims_by_target
      ON refused_claims (scope_id, is_chain, identifier, at, claimer);
    CREATE INDEX refused_claims_by_claimer
      ON refused_claims (scope_id, claimer, at, is_chain, identifier);
    CREATE INDEX refused_claims_by_moment ON refused_claims (at);

    UPDATE documents SET digest = substr(digest, 1, 16);
    UPDATE notifications SET digest = substr(digest, 1, 16);
    """
}
