-- Rows that others imply are no longer stored, and ids take half the bytes. The tables of customers are
-- written again for that, in full, next to the former ones, which are dropped at the end.
--
-- A target, a hint and the id of a fact are bytes now (PackedIdentifier): decimal digits are two in a
-- byte, so that \x63223616 is the chain ('c') 223616; after an odd number of digits comes an f. The table
-- of notifications, whose rows are large and many, stays as it is: its chain is a letter and the id as text.
-- The chains that carry a hint are found in the facts themselves, by indexes; there is no table of them.
--
-- A digest of a payload or document is the first half of what it was (PayloadDigest). Those of
-- notifications stay whole, and their first half counts.

-- Nothing may be written between a copy and the end. Writers wait for the locks of their apps before they
-- take any other, so that none holds a table while it waits for another one; a writer of a new app waits
-- for the table of apps. Reads go on until the last step.
LOCK TABLE scopes IN SHARE MODE;
SELECT count(pg_advisory_xact_lock(key)) FROM (
  SELECT hashtextextended('s' || id, 0) AS key FROM scopes ORDER BY key OFFSET 0) AS keys;
-- The conversion of payloads ("Entl" and 3).
SELECT pg_advisory_xact_lock(1164866668, 3);
-- A program that knows an older schema would not find what is no longer stored: it cannot commit any
-- more (0002_versions.sql). Before the tables, as writers without an app take it first.
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 13) NOT VALID;
LOCK TABLE accounts, links, account_links, facts, versions, transactions, hints, tokens, link_events,
  account_events, documents IN EXCLUSIVE MODE;

-- For the indexes, and for the sort of the facts.
SET LOCAL maintenance_work_mem = '256MB';
SET LOCAL work_mem = '64MB';

-- PackedIdentifier.bytes(of:).
CREATE FUNCTION lean_packed(id text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN id ~ '^[0-9]+$'
      THEN decode(id || CASE WHEN length(id) % 2 = 1 THEN 'f' ELSE '' END, 'hex')
    WHEN id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
      THEN '\xfe'::bytea || decode(replace(id, '-', ''), 'hex')
    ELSE '\xff'::bytea || convert_to(id, 'UTF8') END
$$;
-- A target: its letter, and the packed id. Chains (c) are after app transactions (a), so that new ones are
-- the last in each index. An app transaction without an id has the digest of its payload there.
CREATE FUNCTION lean_target(target text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT CASE left(target, 1) WHEN 't' THEN '\x61'::bytea ELSE '\x63' END || lean_packed(CASE
    WHEN target ~ '^tsha256:[0-9a-f]{64}$' THEN substr(target, 2, 39) ELSE substr(target, 2) END)
$$;

-- An author without a token.
CREATE FUNCTION lean_author(name text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT convert_to(E'author\n' || name, 'UTF8')
$$;

-- Columns are in the order of their alignment, the longest first: no bytes are lost between them.

CREATE TABLE lean_accounts (
  revision bigint NOT NULL,
  changed_at bigint NOT NULL,
  -- Claims of others' purchases that were granted since a moment.
  claims_since bigint,
  claims integer NOT NULL,
  scope integer NOT NULL,
  -- How many chains it has (R68).
  chains integer NOT NULL DEFAULT 0,
  -- Deleted, and not heard of since: kept until the feed no longer tells of the deletion.
  is_deleted boolean NOT NULL,
  account text COLLATE "C" NOT NULL,
  -- The account that it was merged into, which is never merged itself.
  merged_into text COLLATE "C",
  -- Its chains and app transactions, each once, where reads of an account need them: the first two, which
  -- take 33 bytes less than in an array, and the others or NULL. An array of more than about a hundred is
  -- stored apart and compressed.
  first_target bytea,
  second_target bytea,
  more_targets bytea[] COMPRESSION lz4,
  CONSTRAINT lean_accounts_targets_check CHECK (
    (first_target IS NOT NULL OR second_target IS NULL)
    AND (second_target IS NOT NULL OR more_targets IS NULL))
) PARTITION BY HASH (account);

CREATE TABLE lean_links (
  -- Of the latest change as an unlinked chain.
  revision bigint NOT NULL,
  changed_at bigint NOT NULL,
  -- The latest event of the target, if it says no more than that a submission linked the target, which
  -- had no account, to the account that has it, at the moment changed_at. Such an event is no row of
  -- link_events. Both are NULL otherwise.
  event_position bigint,
  scope integer NOT NULL,
  -- The author of this event, a row of headers; 0 for none. NULL would cost 8 bytes.
  event_author integer NOT NULL DEFAULT 0,
  -- 1 named, 2 by a token, 3 by an app transaction, 4 by a previous chain, 5 imported.
  event_reason smallint,
  -- A LinkStanding.
  standing smallint NOT NULL DEFAULT 0,
  -- Nobody signed what the account was named with.
  is_unsigned boolean NOT NULL,
  -- An operator took it from its account.
  is_detached boolean NOT NULL,
  -- A signed transaction of another chain was once of this one. It names the app of the chain.
  is_former_chain boolean NOT NULL DEFAULT false,
  target bytea NOT NULL,
  -- The id of the trace in which this event was made; empty for none.
  event_trace bytea NOT NULL DEFAULT '',
  account text COLLATE "C"
) PARTITION BY HASH (target);

CREATE TABLE lean_facts (
  signed_date bigint NOT NULL,
  scope integer NOT NULL,
  header integer NOT NULL,
  -- A FactKind.
  kind smallint NOT NULL,
  -- A FactAuthority: 0 is that of what nobody signed.
  authority smallint NOT NULL,
  is_revoked boolean NOT NULL,
  is_upgraded boolean NOT NULL,
  target bytea NOT NULL,
  -- Empty where it is the id of the target: of app transactions and of the first transaction of a chain;
  -- FD for the renewal info of a chain. No packed id is empty, or begins with this byte.
  identifier bytea NOT NULL,
  -- Hints at a customer (R42). Only facts of chains have them.
  app_transaction bytea,
  token bytea,
  previous_chain bytea,
  digest bytea NOT NULL,
  signature bytea NOT NULL,
  -- The digest of the document that it came out of; NULL for a JWS.
  document bytea,
  -- The versions of the fact with their signing moments (0002_versions.sql).
  history bytea,
  -- The payload of a FactSupplement; NULL for most facts.
  supplement bytea,
  payload bytea NOT NULL
) PARTITION BY HASH (target);

CREATE TABLE lean_versions (
  scope integer NOT NULL,
  header integer NOT NULL,
  kind smallint NOT NULL,
  authority smallint NOT NULL,
  target bytea NOT NULL,
  -- As of a fact.
  identifier bytea NOT NULL,
  -- A StatementDigest.
  statement bytea NOT NULL,
  signature bytea NOT NULL,
  payload bytea NOT NULL
) PARTITION BY HASH (target);

-- The chain of a transaction that is not in the chain that has its id.
CREATE TABLE lean_transactions (
  scope integer NOT NULL,
  transaction_id bytea NOT NULL,
  target bytea NOT NULL
) PARTITION BY HASH (transaction_id);

CREATE TABLE lean_documents (
  digest bytea NOT NULL,
  bytes bytea NOT NULL
) PARTITION BY HASH (digest);

CREATE TABLE lean_tokens (
  -- NULL for tokens of earlier versions.
  since bigint,
  scope integer NOT NULL,
  -- An AccountTokenState.
  state smallint NOT NULL DEFAULT 1,
  token bytea NOT NULL,
  -- NULL: an ambiguous token whose first account was deleted.
  account text COLLATE "C",
  -- Who bound it and why; NULL for other tokens.
  author text COLLATE "C",
  note text COLLATE "C",
  on_behalf_of text,
  CONSTRAINT lean_tokens_account_check CHECK (account IS NOT NULL OR state = 2)
) PARTITION BY HASH (token);

CREATE TABLE lean_link_events (
  position bigint NOT NULL,
  at bigint NOT NULL,
  scope integer NOT NULL,
  -- Who caused it, a row of headers (LinkAuthor); NULL where that is not known.
  author integer,
  -- The account was deleted since: its id is gone from here.
  is_from_erased boolean NOT NULL,
  is_to_erased boolean NOT NULL,
  target bytea NOT NULL,
  from_account text COLLATE "C",
  to_account text COLLATE "C",
  reason text COLLATE "C" NOT NULL,
  note text COLLATE "C",
  on_behalf_of text,
  -- The id of the trace of the call that caused it; NULL if it was not traced.
  trace bytea
) PARTITION BY HASH (target);

-- The events of a target are found by the target for the account that has it. These are for accounts that
-- do not have it, or that had lost it once.
CREATE TABLE lean_account_events (
  position bigint NOT NULL,
  scope integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  target bytea NOT NULL
) PARTITION BY HASH (account);

DO $$
DECLARE
  name text;
  options text;
BEGIN
  FOREACH name IN ARRAY ARRAY['accounts', 'links', 'facts', 'versions', 'documents', 'transactions',
    'tokens', 'link_events', 'account_events']
  LOOP
    options := CASE name
      -- Each change of a customer updates the account, and each renewal a fact. An update in the page of the
      -- row writes to no index. The 245 bytes that are left mostly suffice for the first one (a large fact
      -- goes elsewhere); the old row makes room for the next ones.
      WHEN 'accounts' THEN ' WITH (fillfactor = 97)'
      WHEN 'facts' THEN ' WITH (fillfactor = 97)'
      -- Rows of the others are hardly ever updated.
      ELSE '' END;
    FOR number IN 0..7 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)%s',
        'lean_' || name || '_' || number, 'lean_' || name, number, options);
    END LOOP;
  END LOOP;
END
$$;

-- The targets of each account, in their order.
INSERT INTO lean_accounts (
  scope, account, revision, changed_at, merged_into, is_deleted, claims, claims_since, chains,
  first_target, second_target, more_targets)
  SELECT accounts.scope, accounts.account, revision, changed_at, merged_into, is_deleted, claims,
    claims_since, chains, targets[1], targets[2], nullif(targets[3:], '{}')
  FROM accounts LEFT JOIN (
    SELECT scope, account, array_agg(lean_target(target) ORDER BY target) AS targets
    FROM account_links GROUP BY scope, account) AS held
    ON held.scope = accounts.scope AND held.account = accounts.account;

INSERT INTO lean_links (
  scope, target, account, is_unsigned, is_detached, revision, changed_at, is_former_chain, standing,
  event_reason, event_position)
  SELECT links.scope, lean_target(links.target), links.account, is_unsigned, is_detached, revision,
    changed_at, is_former_chain, standing, event.number, event.position
  FROM links LEFT JOIN (
    SELECT latest.*, CASE reason WHEN 'named' THEN 1 WHEN 'appAccountToken' THEN 2
      WHEN 'appTransaction' THEN 3 WHEN 'previousChain' THEN 4 WHEN 'imported' THEN 5 END AS number
    FROM (
      SELECT DISTINCT ON (scope, target) * FROM link_events ORDER BY scope, target, position DESC)
      AS latest) AS event
    ON event.scope = links.scope AND event.target = links.target AND event.number IS NOT NULL
      AND event.from_account IS NULL AND NOT event.is_from_erased
      AND event.to_account = links.account AND event.at = links.changed_at
      AND event.author IS NULL AND event.note IS NULL AND event.on_behalf_of IS NULL;

-- The authors of events, each once, as LinkAuthor encodes them.
INSERT INTO headers (bytes)
  SELECT DISTINCT lean_author(author) FROM link_events
  WHERE author IS NOT NULL AND NOT EXISTS (
    SELECT FROM headers WHERE sha256(headers.bytes) = sha256(lean_author(author)));
INSERT INTO lean_link_events (
  scope, target, position, at, from_account, to_account, is_from_erased, is_to_erased, reason, author,
  note, on_behalf_of)
  SELECT former.scope, former.packed, position, at, from_account, to_account, is_from_erased,
    is_to_erased, reason,
    (SELECT headers.id FROM headers WHERE sha256(headers.bytes) = sha256(lean_author(author))),
    note, on_behalf_of
  FROM (SELECT link_events.*, lean_target(target) AS packed FROM link_events OFFSET 0) AS former
  WHERE NOT EXISTS (
    SELECT FROM lean_links
    WHERE lean_links.scope = former.scope AND lean_links.target = former.packed
      AND lean_links.event_position = former.position);

INSERT INTO lean_account_events (scope, account, position, target)
  SELECT scope, account, position, lean_target(target) FROM account_events
  WHERE NOT EXISTS (
    SELECT FROM account_links
    WHERE account_links.scope = account_events.scope
      AND account_links.account = account_events.account
      AND account_links.target = account_events.target);

-- The facts of a target next to each other, as they are read.
INSERT INTO lean_facts (
  scope, target, kind, authority, header, signed_date, is_revoked, is_upgraded, identifier,
  app_transaction, token, previous_chain, digest, signature, document, history, payload)
  SELECT scope, lean_target(target), kind, authority, header, signed_date, is_revoked, is_upgraded,
    CASE WHEN kind = 2 THEN '\xfd' WHEN identifier = substr(target, 2) THEN ''
      ELSE lean_packed(identifier) END,
    lean_packed(app_transaction), lean_packed(token), lean_packed(previous_chain),
    substring(digest FROM 1 FOR 16), signature, substring(document FROM 1 FOR 16), history, payload
  FROM facts ORDER BY target;

INSERT INTO lean_documents (digest, bytes)
  SELECT substring(digest FROM 1 FOR 16), bytes FROM documents;

INSERT INTO lean_versions (
  scope, target, kind, authority, header, identifier, statement, signature, payload)
  SELECT scope, lean_target(target), kind, authority, header,
    CASE WHEN kind = 2 THEN '\xfd' WHEN identifier = substr(target, 2) THEN ''
      ELSE lean_packed(identifier) END, statement,
    signature, payload
  FROM versions ORDER BY target;

INSERT INTO lean_transactions (scope, transaction_id, target)
  SELECT scope, lean_packed(transaction_id), lean_target(target) FROM transactions
  WHERE target <> 'c' || transaction_id;

INSERT INTO lean_tokens (scope, token, account, state, author, note, since, on_behalf_of)
  SELECT scope, lean_packed(token), account, state, author, note, since, on_behalf_of FROM tokens;

-- The last refused claim of each account on each target.
CREATE TABLE refused_claims (
  at bigint NOT NULL,
  scope integer NOT NULL,
  -- A row of headers (LinkAuthor).
  author integer,
  target bytea NOT NULL,
  -- The account need not be known.
  claimer text COLLATE "C" NOT NULL,
  trace bytea,
  PRIMARY KEY (scope, target, claimer)
);
CREATE INDEX refused_claims_by_claimer ON refused_claims (scope, claimer);
CREATE INDEX refused_claims_by_moment ON refused_claims (at);

-- The indexes after the rows: they are dense so, and take less time.
-- Reads and writes of an account; the list of accounts.
ALTER TABLE lean_accounts ADD CONSTRAINT lean_accounts_pkey PRIMARY KEY (scope, account);
-- Aliases of an account, for its history, merge and deletion.
CREATE INDEX lean_accounts_by_merged_into ON lean_accounts (scope, merged_into)
  WHERE merged_into IS NOT NULL;
-- The account of a chain or app transaction, which has one at most.
ALTER TABLE lean_links ADD CONSTRAINT lean_links_pkey PRIMARY KEY (scope, target);
-- The list of unlinked chains.
CREATE INDEX lean_links_without_account ON lean_links (scope, target) WHERE account IS NULL;
-- The facts of a target; one fact. The target first: the apps of a chain are asked for too. The scope
-- last: an entry takes eight bytes less so.
ALTER TABLE lean_facts ADD CONSTRAINT lean_facts_pkey PRIMARY KEY (target, identifier, scope);
-- The chains that carry a hint. Facts with one hint share an entry.
CREATE INDEX lean_facts_by_token ON lean_facts (scope, token) WHERE token IS NOT NULL;
CREATE INDEX lean_facts_by_app_transaction ON lean_facts (scope, app_transaction)
  WHERE app_transaction IS NOT NULL;
CREATE INDEX lean_facts_by_previous_chain ON lean_facts (scope, previous_chain)
  WHERE previous_chain IS NOT NULL;
-- Whether a document is still needed.
CREATE INDEX lean_facts_by_document ON lean_facts (document) WHERE document IS NOT NULL;
-- A document of a fact.
ALTER TABLE lean_documents ADD CONSTRAINT lean_documents_pkey PRIMARY KEY (digest);
-- The versions of a target, which never doubles one.
ALTER TABLE lean_versions
  ADD CONSTRAINT lean_versions_pkey PRIMARY KEY (target, scope, kind, identifier, statement);
-- The chain of a transaction.
ALTER TABLE lean_transactions
  ADD CONSTRAINT lean_transactions_pkey PRIMARY KEY (scope, transaction_id);
-- The account of a token.
ALTER TABLE lean_tokens ADD CONSTRAINT lean_tokens_pkey PRIMARY KEY (scope, token);
-- The tokens of an account, for its export, merge and deletion.
CREATE INDEX lean_tokens_by_account ON lean_tokens (scope, account);
-- The list of ambiguous tokens.
CREATE INDEX lean_tokens_ambiguous ON lean_tokens (scope, token) WHERE state = 2;
-- The history of a target.
ALTER TABLE lean_link_events
  ADD CONSTRAINT lean_link_events_pkey PRIMARY KEY (scope, target, position);
-- The history of an account.
ALTER TABLE lean_account_events
  ADD CONSTRAINT lean_account_events_pkey PRIMARY KEY (scope, account, position);
-- Tables belong to the same role, and others may do with them what they might.
DO $$
DECLARE
  item record;
BEGIN
  FOR item IN
    SELECT new.relname AS name, pg_get_userbyid(old.relowner) AS owner
    FROM pg_class AS new
    JOIN pg_class AS old ON old.relnamespace = new.relnamespace
      AND old.relname = substr(new.relname, 6)
    WHERE new.relnamespace = current_schema()::regnamespace AND new.relkind IN ('r', 'p')
      AND starts_with(new.relname, 'lean_') AND new.relowner <> old.relowner
  LOOP
    EXECUTE format('ALTER TABLE %I OWNER TO %I', item.name, item.owner);
  END LOOP;
  FOR item IN
    SELECT new.relname AS name, granted.privilege_type AS privilege,
      CASE granted.grantee WHEN 0 THEN 'PUBLIC'
        ELSE quote_ident(pg_get_userbyid(granted.grantee)) END AS grantee,
      CASE WHEN granted.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS options
    FROM pg_class AS new
    JOIN pg_class AS old ON old.relnamespace = new.relnamespace
      AND old.relname = substr(new.relname, 6)
    CROSS JOIN LATERAL aclexplode(old.relacl) AS granted
    WHERE new.relnamespace = current_schema()::regnamespace AND new.relkind IN ('r', 'p')
      AND starts_with(new.relname, 'lean_') AND granted.grantee <> old.relowner
  LOOP
    EXECUTE format('GRANT %s ON %I TO %s%s', item.privilege, item.name, item.grantee, item.options);
  END LOOP;
END
$$;

ANALYZE lean_accounts, lean_links, lean_facts, lean_versions, lean_documents, lean_transactions,
  lean_tokens, lean_link_events, lean_account_events;

-- The conversion of these begins again: its place is a former key.
UPDATE payload_conversions SET position = NULL, looked_at = 0, bytes_before = 0, bytes_after = 0,
  damaged = 0, skipped = 0, pass = 1
WHERE table_name IN ('facts', 'versions', 'documents') AND ended_at IS NULL;

-- Readers may hold some of the tables and wait for others. Waits for all of them a short time at once,
-- and lets them go first, so that nobody is refused.
DO $$
BEGIN
  FOR attempt IN 1..1200 LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      LOCK TABLE accounts, links, account_links, facts, versions, documents, transactions, hints, tokens,
        link_events, account_events IN ACCESS EXCLUSIVE MODE;
      EXIT;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 1200 THEN
        RAISE EXCEPTION 'the tables are read all the time: stop the nodes and backups, and migrate again';
      END IF;
    END;
  END LOOP;
END
$$;
DROP TABLE accounts, links, account_links, facts, versions, documents, transactions, hints, tokens,
  link_events, account_events;
DROP FUNCTION lean_target(text), lean_packed(text), lean_author(text);
DO $$
DECLARE
  item record;
BEGIN
  -- Tables first: an index of a constraint has the constraint's name.
  FOR item IN
    SELECT relname AS name, CASE WHEN relkind IN ('r', 'p') THEN 'TABLE' ELSE 'INDEX' END AS kind
    FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'i', 'I')
      AND starts_with(relname, 'lean_')
    ORDER BY kind DESC
  LOOP
    EXECUTE format('ALTER %s %I RENAME TO %I', item.kind, item.name, substr(item.name, 6));
  END LOOP;
  ALTER TABLE accounts RENAME CONSTRAINT lean_accounts_targets_check TO accounts_targets_check;
  ALTER TABLE tokens RENAME CONSTRAINT lean_tokens_account_check TO tokens_account_check;
END
$$;
