-- What the store keeps: what Apple signed, who owns it, and the feed of changes.
--
-- Rows have natural keys: the number of an app and environment, and Apple's or the caller's own
-- ids, compared byte by byte. Tables that grow with customers are partitioned by the hash of an
-- account, of a chain or of another id of their key, so that an extension can spread them over
-- machines. Eight partitions: a plan locks and opens every partition that it might need. A read of
-- a customer took 0.17 ms with one, 0.22 ms with eight, 0.3 to 0.5 ms with sixteen; with eight, the
-- indexes of ten million customers are still of a bearable size.
--
-- A target is what an account can own: 'c' and the id of a chain, or 't' and an app transaction id.
-- Moments are milliseconds since 1970; revisions and sequence numbers come from one series.

-- One row.
CREATE TABLE meta (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Added to transaction ids in sequence numbers: above 0 once the database was restored into a
  -- server whose transaction ids are lower.
  sequence_offset bigint NOT NULL DEFAULT 0,
  -- The last change of the feed that was deleted for its age.
  trimmed_through bigint NOT NULL DEFAULT 0
);
INSERT INTO meta DEFAULT VALUES;

-- An app in an environment. As many as the operator has apps, times four.
CREATE TABLE scopes (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment text NOT NULL,
  bundle_id text COLLATE "C" NOT NULL,
  UNIQUE (environment, bundle_id)
);

-- The JWS header of each signer, once: some 4 kB that all its payloads share. Too long for an
-- index, so its hash is unique.
CREATE TABLE headers (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  bytes bytea NOT NULL
);
CREATE UNIQUE INDEX headers_by_digest ON headers (sha256(bytes));

-- Customers. Rows stay when an account has lost its chains, for the history.
CREATE TABLE accounts (
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  changed_at bigint NOT NULL,
  -- The account that it was merged into, which is never merged itself.
  merged_into text COLLATE "C",
  -- Deleted, and not heard of since: kept until the feed no longer tells of the deletion.
  is_deleted boolean NOT NULL,
  -- Claims of others' purchases that were granted since a moment.
  claims integer NOT NULL,
  claims_since bigint,
  PRIMARY KEY (scope, account)
) PARTITION BY HASH (account);

-- Whose a chain or app transaction is.
CREATE TABLE links (
  scope integer NOT NULL,
  target text COLLATE "C" NOT NULL,
  account text COLLATE "C",
  -- Nobody signed what the account was named with.
  is_unsigned boolean NOT NULL,
  -- An operator took it from its account.
  is_detached boolean NOT NULL,
  -- Of the latest change as an unlinked chain.
  revision bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (scope, target)
) PARTITION BY HASH (target);
CREATE INDEX links_without_account ON links (scope, target) WHERE account IS NULL;

-- The same from the account's side.
CREATE TABLE account_links (
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, account, target)
) PARTITION BY HASH (account);

-- The standing version of each fact, beside the others of its target.
CREATE TABLE facts (
  scope integer NOT NULL,
  target text COLLATE "C" NOT NULL,
  -- A FactKind.
  kind smallint NOT NULL,
  -- A FactAuthority: 0 is that of what nobody signed.
  authority smallint NOT NULL,
  header integer NOT NULL,
  signed_date bigint NOT NULL,
  is_revoked boolean NOT NULL,
  is_upgraded boolean NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  -- Hints at a customer (R42).
  app_transaction text COLLATE "C",
  token text COLLATE "C",
  previous_chain text COLLATE "C",
  digest bytea NOT NULL,
  signature bytea NOT NULL,
  -- The digest of the document that it came out of; NULL for a JWS.
  document bytea,
  payload bytea NOT NULL,
  PRIMARY KEY (target, scope, kind, identifier)
) PARTITION BY HASH (target);
CREATE INDEX facts_by_document ON facts (document) WHERE document IS NOT NULL;

-- The chain of a transaction. Renewal infos and app transactions are named as their target is.
CREATE TABLE transactions (
  scope integer NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, transaction_id)
) PARTITION BY HASH (transaction_id);

-- Chains by the hints of their facts: 'a' and a token, 't' and an app transaction id ('u' where
-- nobody signed the fact), 'p' and a previous chain.
CREATE TABLE hints (
  scope integer NOT NULL,
  hint text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, hint, target)
) PARTITION BY HASH (hint);

-- The account that each app account token is known for.
CREATE TABLE tokens (
  scope integer NOT NULL,
  token text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, token)
) PARTITION BY HASH (token);
CREATE INDEX tokens_by_account ON tokens (scope, account);

CREATE INDEX accounts_deleted ON accounts (revision) WHERE is_deleted;
CREATE INDEX accounts_by_merged_into ON accounts (scope, merged_into)
  WHERE merged_into IS NOT NULL;

-- What operators gave, withdrawn ones included. An id is unique within its scope: whoever writes
-- one holds the lock of the id.
CREATE TABLE grants (
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  entitlement_id text COLLATE "C" NOT NULL,
  starts bigint NOT NULL,
  expires bigint,
  reason text COLLATE "C" NOT NULL,
  author text COLLATE "C" NOT NULL,
  -- All three are NULL while it stands.
  withdrawn_at bigint,
  withdrawn_by text COLLATE "C",
  withdrawal_reason text COLLATE "C",
  PRIMARY KEY (scope, account, created_at, grant_id),
  CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL)),
  CHECK ((withdrawn_at IS NULL) = (withdrawal_reason IS NULL))
) PARTITION BY HASH (account);
-- The id first: this one is of no use to those who know only the scope, whatever the planner thinks
-- of a table that is still empty.
CREATE INDEX grants_by_id ON grants (grant_id, scope);

-- The history of links. Positions grow with the order of commits of a target.
CREATE TABLE link_events (
  scope integer NOT NULL,
  target text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  at bigint NOT NULL,
  from_account text COLLATE "C",
  to_account text COLLATE "C",
  -- The account was deleted since: its id is gone from here.
  is_from_erased boolean NOT NULL,
  is_to_erased boolean NOT NULL,
  reason text COLLATE "C" NOT NULL,
  author text COLLATE "C",
  note text COLLATE "C",
  PRIMARY KEY (scope, target, position)
) PARTITION BY HASH (target);

CREATE TABLE account_events (
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (scope, account, position)
) PARTITION BY HASH (account);

CREATE TABLE notifications (
  uuid text COLLATE "C" PRIMARY KEY,
  -- NULL where it names no app.
  scope integer,
  header integer NOT NULL,
  status bigint,
  signed_date bigint,
  received_at bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  subtype text COLLATE "C",
  -- The scope and target of the first chain that its facts speak of.
  chain_scope integer,
  chain text COLLATE "C",
  digest bytea NOT NULL,
  signature bytea NOT NULL,
  -- Two payloads in it have the same header: LZ4 finds that, pglz does not.
  payload bytea COMPRESSION lz4 NOT NULL
) PARTITION BY HASH (uuid);
CREATE INDEX notifications_by_chain ON notifications (chain_scope, chain) WHERE chain IS NOT NULL;

-- Legacy receipts and archived responses, whole and once: all facts out of one share it. Kept while
-- a fact refers to it.
CREATE TABLE documents (
  digest bytea PRIMARY KEY,
  bytes bytea NOT NULL
) PARTITION BY HASH (digest);

DO $$
DECLARE
  name text;
  options text;
BEGIN
  FOREACH name IN ARRAY ARRAY['accounts', 'links', 'account_links', 'facts', 'transactions',
    'hints', 'tokens', 'grants', 'link_events', 'account_events', 'notifications', 'documents']
  LOOP
    -- Rows that are updated again and again find room beside themselves.
    options := CASE
      WHEN name IN ('accounts', 'facts', 'links') THEN ' WITH (fillfactor = 90)' ELSE '' END;
    FOR number IN 0..7 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)%s',
        name || '_' || number, name, number, options);
    END LOOP;
  END LOOP;
END
$$;

-- The feed. One table, since it is read in the order of its numbers and trimmed from its beginning:
-- its size depends on how long changes are kept. The number is made of the id of the transaction
-- that wrote the row, so that a snapshot tells up to which number all are there.
CREATE TABLE changes (
  sequence bigint PRIMARY KEY,
  committed_at bigint NOT NULL,
  scope integer NOT NULL,
  -- ChangeKinds; 16 is that of events.
  kinds integer NOT NULL,
  -- The customer: an account, or a chain without one.
  account text COLLATE "C",
  chain text COLLATE "C",
  -- What a notification brought, encoded by the store.
  events bytea,
  CHECK (account IS NULL OR chain IS NULL),
  CHECK (account IS NOT NULL OR chain IS NOT NULL OR kinds = 16)
);

-- A row for each transaction of late, by which a store that lost its connection in the middle of a
-- commit finds out whether it was done.
CREATE TABLE commit_tokens (
  token bytea PRIMARY KEY,
  -- One less than the sequence number of its first change; 0 when a store that looked for the
  -- transaction wrote the row, so that the transaction can never be committed.
  base bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now()
);
