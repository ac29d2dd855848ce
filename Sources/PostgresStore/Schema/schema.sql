-- What the store keeps: what Apple signed, whose it is, and the feed of changes.
--
-- Rows have natural keys: the number of an app and environment, and Apple's or the caller's own ids, compared
-- byte by byte (COLLATE "C"). Tables that grow with customers are partitioned by the hash of an account, of a
-- chain or of another id of their key. Their partitions are at the end of the file. There are no foreign keys
-- between them.
--
-- A packed id is a PackedIdentifier: two decimal digits in a byte, and an f after an odd number of digits;
-- the byte FE and the 16 bytes of a UUID; the byte FF and another text in UTF-8.
--
-- A target is what an account can own: the letter c and the packed id of a chain, or the letter a and the
-- packed id of an app transaction, so \x63223616 is the chain 223616. Chains come after app transactions:
-- Apple's ids grow, so that new chains are mostly the last in each index. An app transaction without an id
-- has the text sha256: and the digest of its payload in hexadecimal as its id.
--
-- A digest is the first 16 bytes of a SHA-256 (PayloadDigest).
--
-- A stored payload is the bytes that a PayloadCompressor makes. The first byte tells the form, and most
-- forms name a dictionary of the program. The digest beside it is that of the payload before compression.
--
-- Moments are milliseconds since 1970 in UTC, unless a column has a type of its own for them. Revisions,
-- positions of events and sequence numbers come from one series: the id of the transaction that wrote the
-- row plus meta.sequence_offset, times 65,536, plus the place in the transaction, from 1.
--
-- "A write" below is a transaction in which a ledger decides (WriteTransaction): it stores submissions,
-- requests of operators, and reports of jobs. Columns of the largest tables are in the order of their
-- alignment, the longest first: no bytes are lost between them.

-- Apps and signers --------------------------------------------------------------------------------------

-- An app in an environment. There are as many as the operator has apps, times four at most. The key is a
-- number that other tables name as their scope. A server adds a row before the first write of an app, in a
-- transaction of its own. Rows never change. Reads take the whole table.
CREATE TABLE scopes (
  -- The number in this database. It means nothing outside.
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- A StoreEnvironment: Production, Sandbox, Xcode or LocalTesting.
  environment text COLLATE "C" NOT NULL,
  -- The bundle id of the app.
  bundle_id text COLLATE "C" NOT NULL,
  -- The number of an app: for the row of a new app, and for the check of known numbers by each write.
  UNIQUE (environment, bundle_id)
);

-- Bytes that many rows share: the header of a signer's JWS, some 4 kB that all its payloads have; and the
-- author of changes of links, a caller with its token (LinkAuthor). The row with empty bytes stands for
-- facts that came out of a document. The key is a number. A server adds a row before the first write that
-- needs it, in a transaction of its own. Rows never change.
CREATE TABLE headers (
  -- The number in this database. The primary key serves all reads that need the bytes.
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The header segment of a JWS in base64url; or lines: the word author, the name, the id of the token if
  -- there is one.
  bytes bytea NOT NULL
);
-- The number of bytes, for each write. Headers are too long for an index, so their hash is unique.
CREATE UNIQUE INDEX headers_by_digest ON headers (sha256(bytes));

-- What Apple signed -------------------------------------------------------------------------------------

-- A legacy receipt, or an archived response of verifyReceipt, whole and once: all facts out of one share it.
-- The key is the digest of the document. A write adds it with its facts, and deletes it when the last fact
-- that names it is replaced.
CREATE TABLE documents (
  -- The digest of the document.
  digest bytea NOT NULL,
  -- The stored form of the document, as of a payload.
  bytes bytea NOT NULL,
  -- The document of a fact, for proofs and exports; its deletion.
  PRIMARY KEY (digest)
) PARTITION BY HASH (digest);

-- The standing version of a fact, beside the other facts of its target: a transaction or renewal info of a
-- chain, or an app transaction. The key is the target, the id of the fact in it, and the app. A write adds
-- it, replaces it by a version that takes precedence, and moves it when its transaction changes its chain.
CREATE TABLE facts (
  -- When it was signed, by Apple's clock.
  signed_date bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- The row of headers with the header of the JWS; the row with empty bytes for a fact out of a document.
  header integer NOT NULL,
  -- A FactKind: 1 transaction, 2 renewal info, 3 app transaction.
  kind smallint NOT NULL,
  -- A FactAuthority: 0 archived response, which nobody signed, 1 receipt, 2 JWS.
  authority smallint NOT NULL,
  -- Whether it is a revoked transaction. Part of the precedence of versions.
  is_revoked boolean NOT NULL,
  -- Whether it is a transaction that was upgraded. Part of the precedence of versions.
  is_upgraded boolean NOT NULL,
  -- The chain that the standing version names, or the app transaction.
  target bytea NOT NULL,
  -- The packed id of the transaction. Empty where it is the id of the target: of app transactions and of the
  -- first transaction of a chain. The byte FD for the renewal info of a chain. No packed id is empty or
  -- begins with this byte, so it tells facts of different kinds apart.
  identifier bytea NOT NULL,
  -- The next three are hints at a customer (R42), packed ids that only facts of chains have. This one is the
  -- app transaction id; NULL if there is none. A fact that nobody signed has it too, and it is no hint then.
  app_transaction bytea,
  -- The app account token; NULL if there is none, or nobody signed the fact.
  token bytea,
  -- The former chain of the purchase; NULL if there is none, or nobody signed the fact.
  previous_chain bytea,
  -- The digest of the payload. It decides between versions that are equal otherwise.
  digest bytea NOT NULL,
  -- The signature of the JWS, 64 bytes; empty for a fact out of a document.
  signature bytea NOT NULL,
  -- The digest of the document that it came out of; NULL for a JWS.
  document bytea,
  -- All versions with their signing moments, the standing one first (FactHistory.encoded). NULL for one
  -- version that was signed once, as most facts have, and for app transactions.
  history bytea,
  -- The payload of a statement of another form that completes a transaction (FactSupplement), not
  -- compressed; NULL for most facts.
  supplement bytea,
  -- The stored payload. The id, hints and signing moment may be taken out of it and replaced by references to
  -- the columns of the row (RowTexts), so a change of these columns must write the payload too.
  payload bytea NOT NULL,
  -- The facts of a target; one fact. The target first: the apps of a chain are asked for too. The scope last:
  -- an entry takes eight bytes less so.
  PRIMARY KEY (target, identifier, scope)
) PARTITION BY HASH (target);
-- The next three find the chains that carry a hint. Each search looks into all partitions. Facts with one
-- hint share an entry. This one: reads by a token, and writes that look for unlinked chains.
CREATE INDEX facts_by_token ON facts (scope, token) WHERE token IS NOT NULL;
-- Reads by an app transaction, and writes that look for unlinked chains.
CREATE INDEX facts_by_app_transaction ON facts (scope, app_transaction)
  WHERE app_transaction IS NOT NULL;
-- Writes that look for unlinked chains.
CREATE INDEX facts_by_previous_chain ON facts (scope, previous_chain)
  WHERE previous_chain IS NOT NULL;
-- Whether a document is still needed.
CREATE INDEX facts_by_document ON facts (document) WHERE document IS NOT NULL;

-- A version of a transaction or renewal info that does not stand (R53), in the partition of the facts of
-- its target. The key is that of the fact and the digest of what the version says. A write adds, moves and
-- deletes it with the history of its fact. A version of an item of a document keeps its payload and not the
-- document: it must not keep a whole receipt alive.
CREATE TABLE versions (
  -- The app and environment.
  scope integer NOT NULL,
  -- As of a fact.
  header integer NOT NULL,
  -- As of a fact: 1 or 2.
  kind smallint NOT NULL,
  -- As of a fact.
  authority smallint NOT NULL,
  -- The target of the fact, whatever chain the version names.
  target bytea NOT NULL,
  -- As of a fact.
  identifier bytea NOT NULL,
  -- The digest of what it says, whenever it was signed (StatementDigest).
  statement bytea NOT NULL,
  -- As of a fact.
  signature bytea NOT NULL,
  -- The stored payload, whole: the row has no columns that complete it.
  payload bytea NOT NULL,
  -- The versions of a target or fact, for reads of a past moment, exports and moves.
  PRIMARY KEY (target, scope, kind, identifier, statement)
) PARTITION BY HASH (target);

-- The chain of a transaction. Only transactions that are not in the chain that has their id are here: one
-- without a row is looked for in the chain that has its id. The key is the app and the id of the transaction.
-- A write adds, changes and deletes it with the fact.
CREATE TABLE transactions (
  -- The app and environment.
  scope integer NOT NULL,
  -- The packed id of the transaction.
  transaction_id bytea NOT NULL,
  -- The chain that its standing version names.
  target bytea NOT NULL,
  -- The chain of a transaction, for reads by its id and for each write of it.
  PRIMARY KEY (scope, transaction_id)
) PARTITION BY HASH (transaction_id);

-- Who owns it -------------------------------------------------------------------------------------------

-- Whose a chain or app transaction is. Each known target has a row, with or without an account. The key is
-- the app and the target. A write adds and changes it. Rows are never deleted.
CREATE TABLE links (
  -- The sequence number of its latest change as an unlinked chain; 0 when there was none.
  revision bigint NOT NULL,
  -- When the row was added or got its revision.
  changed_at bigint NOT NULL,
  -- The position of the latest event of the target, if it says no more than that a submission linked the
  -- target, which had no account, to the account that has it, at the moment changed_at (PlainLinkEvent). Such
  -- an event is no row of link_events. NULL if the latest event is another one, or there is none.
  event_position bigint,
  -- The app and environment.
  scope integer NOT NULL,
  -- The author of this event, a row of headers; 0 for none. NULL would cost 8 bytes.
  event_author integer NOT NULL DEFAULT 0,
  -- The reason of this event: 1 named, 2 by a token, 3 by an app transaction, 4 by a previous chain, 5
  -- imported. NULL without such an event.
  event_reason smallint,
  -- What the account rests on, a LinkStanding: 0 named, 1 hinted, 2 contested, 3 decided, 4 disputed.
  standing smallint NOT NULL DEFAULT 0,
  -- Whether nobody signed what the account was named with. Such a link is no hint for others.
  is_unsigned boolean NOT NULL,
  -- Whether an operator took it from its account. Hints do not link it again.
  is_detached boolean NOT NULL,
  -- Whether a signed transaction of another chain was once of this one. It names the app of the chain (R55),
  -- also if no transaction is left in it.
  is_former_chain boolean NOT NULL DEFAULT false,
  -- The chain or app transaction.
  target bytea NOT NULL,
  -- The id of the trace in which this event was made, 16 bytes; empty for none.
  event_trace bytea NOT NULL DEFAULT '',
  -- The account that has it; NULL while it has none.
  account text COLLATE "C",
  -- The account of a target, for each read by an id of Apple's and each write; the latest event of a target.
  PRIMARY KEY (scope, target)
) PARTITION BY HASH (target);
-- The list of unlinked chains.
CREATE INDEX links_without_account ON links (scope, target) WHERE account IS NULL;

-- A step in the history of a link (R46), but the latest plain one, which is kept in the link. The key is the
-- app, the target and the position. A write adds it. The deletion of an account erases the account from it.
-- Rows are never deleted.
CREATE TABLE link_events (
  -- Its number of the series of sequence numbers. Those of a target grow with the order of commits.
  position bigint NOT NULL,
  -- When it was made.
  at bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- Who caused it, a row of headers (LinkAuthor); NULL where that is not known.
  author integer,
  -- Whether from_account is NULL because the account was deleted.
  is_from_erased boolean NOT NULL,
  -- Whether to_account is NULL because the account was deleted.
  is_to_erased boolean NOT NULL,
  -- The chain or app transaction.
  target bytea NOT NULL,
  -- The account that had it; NULL if there was none, or it is erased.
  from_account text COLLATE "C",
  -- The account that got it; NULL if there is none, or it is erased.
  to_account text COLLATE "C",
  -- A LinkReason.
  reason text COLLATE "C" NOT NULL,
  -- The reason of a request, in the caller's words; NULL for the effect of a submission.
  note text COLLATE "C",
  -- For whom the author acted, as the author said; NULL when it did not say.
  on_behalf_of text COLLATE "C",
  -- The id of the trace of the call that caused it, 16 bytes; NULL if it was not traced.
  trace bytea,
  -- The history of a target, for reads and for the limit of claims (R93); single events of an account.
  PRIMARY KEY (scope, target, position)
) PARTITION BY HASH (target);

-- An event of an account that does not have the target, or lost it once: the events of a target are found by
-- the target for the account that has it. The key is the app, the account and the position. A write adds it
-- when it takes a target from an account. The deletion of the account deletes it.
CREATE TABLE account_events (
  -- The position of the row of link_events.
  position bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- An account of the event.
  account text COLLATE "C" NOT NULL,
  -- The target of the event.
  target bytea NOT NULL,
  -- The history of an account; the erasure of an account from events.
  PRIMARY KEY (scope, account, position)
) PARTITION BY HASH (account);

-- The last refused claim of an account on a target (R91). The key is the app, the target and the claimer. A
-- write adds or replaces it, and deletes the oldest ones beyond 20 of a target or claimer. The trimming of
-- the feed deletes those of more than 90 days. The deletion of the claimer deletes its rows.
CREATE TABLE refused_claims (
  -- When it was refused.
  at bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- Who submitted it, a row of headers (LinkAuthor); NULL where that is not known.
  author integer,
  -- What was claimed.
  target bytea NOT NULL,
  -- The account that claimed it. It need not be known.
  claimer text COLLATE "C" NOT NULL,
  -- The id of the trace of the call, 16 bytes; NULL if it was not traced.
  trace bytea,
  -- The refused claims of a target; the one of a claimer, for each refusal.
  PRIMARY KEY (scope, target, claimer)
);
-- The refused claims of a claimer: its history, its limit and its deletion.
CREATE INDEX refused_claims_by_claimer ON refused_claims (scope, claimer);
-- The deletion of old ones.
CREATE INDEX refused_claims_by_moment ON refused_claims (at);

-- Customers ---------------------------------------------------------------------------------------------

-- An account of the caller, with the targets that it has. The key is the app and the caller's id. A write
-- adds and changes it. A row stays when its account has lost its targets, for the history. The row of a
-- deleted account goes when the feed is trimmed beyond the deletion.
CREATE TABLE accounts (
  -- The sequence number of the latest change; 0 when there was none.
  revision bigint NOT NULL,
  -- When the row was added or got its revision.
  changed_at bigint NOT NULL,
  -- The moment of the first granted claim of the present window of a day (R44); NULL when there was none.
  claims_since bigint,
  -- The claims of others' purchases that were granted since then.
  claims integer NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- How many chains it has (R68).
  chains integer NOT NULL DEFAULT 0,
  -- Deleted, and not heard of since: kept until the feed no longer tells of the deletion.
  is_deleted boolean NOT NULL,
  -- The caller's id of the account.
  account text COLLATE "C" NOT NULL,
  -- The account that it was merged into, which is never merged itself; NULL when it is not merged.
  merged_into text COLLATE "C",
  -- Its chains and app transactions, each once, where reads of an account need them. The first one; NULL for
  -- an account without targets. Two columns take 33 bytes less than an array.
  first_target bytea,
  -- The second one; NULL if there is none.
  second_target bytea,
  -- All others; NULL if there are none. An array of more than about a hundred is stored apart and compressed.
  more_targets bytea[] COMPRESSION lz4,
  CONSTRAINT accounts_targets_check CHECK (
    (first_target IS NOT NULL OR second_target IS NULL)
    AND (second_target IS NOT NULL OR more_targets IS NULL)),
  -- Reads and writes of an account; the list of accounts.
  PRIMARY KEY (scope, account)
) PARTITION BY HASH (account);
-- The aliases of an account, for its history, audit trail, merge and deletion.
CREATE INDEX accounts_by_merged_into ON accounts (scope, merged_into)
  WHERE merged_into IS NOT NULL;

-- What is known of an app account token (R71). The key is the app and the token. A write adds, changes and
-- deletes it: a submission teaches it, a request binds or forgets it.
CREATE TABLE tokens (
  -- When it got its state.
  since bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- An AccountTokenState: 1 learned, 2 ambiguous, 3 bound.
  state smallint NOT NULL DEFAULT 1,
  -- The packed token.
  token bytea NOT NULL,
  -- The account that it belongs to; of an ambiguous token, its first one. NULL for an ambiguous token whose
  -- first account was deleted.
  account text COLLATE "C",
  -- The caller whose request bound it; NULL for other tokens.
  author text COLLATE "C",
  -- The reason of this request, in the caller's words; NULL for other tokens.
  note text COLLATE "C",
  -- For whom the author acted, as the author said; NULL when it did not say.
  on_behalf_of text COLLATE "C",
  CONSTRAINT tokens_account_check CHECK (account IS NOT NULL OR state = 2),
  -- The account of a token, for reads by it and for each write that presents it.
  PRIMARY KEY (scope, token)
) PARTITION BY HASH (token);
-- The tokens of an account, for its list, export, merge and deletion.
CREATE INDEX tokens_by_account ON tokens (scope, account);
-- The list of ambiguous tokens.
CREATE INDEX tokens_ambiguous ON tokens (scope, token) WHERE state = 2;

-- An entitlement that an operator gave, also a withdrawn one. The key is the app, the account, the moment
-- and the id. An id is unique within its scope: a write of one holds the lock of the id. A write adds
-- it, marks it as withdrawn, and moves it with a merged account. The deletion of the account deletes it.
CREATE TABLE grants (
  -- The app and environment.
  scope integer NOT NULL,
  -- The account that has it.
  account text COLLATE "C" NOT NULL,
  -- When it was given.
  created_at bigint NOT NULL,
  -- The id of the grant.
  grant_id text COLLATE "C" NOT NULL,
  -- The entitlement of the catalog.
  entitlement_id text COLLATE "C" NOT NULL,
  -- From when it confers.
  starts bigint NOT NULL,
  -- Until when it confers; NULL for no end.
  expires bigint,
  -- Why it was given, in the caller's words.
  reason text COLLATE "C" NOT NULL,
  -- The caller that gave it.
  author text COLLATE "C" NOT NULL,
  -- When it was withdrawn. This and the next two are NULL while it stands.
  withdrawn_at bigint,
  -- The caller that withdrew it.
  withdrawn_by text COLLATE "C",
  -- Why it was withdrawn, in the caller's words.
  withdrawal_reason text COLLATE "C",
  -- For whom the author acted, as the author said; NULL when it did not say.
  on_behalf_of text COLLATE "C",
  -- The same of the withdrawal.
  withdrawn_on_behalf_of text COLLATE "C",
  -- The grants of an account in their order, for each read and for its merge and deletion.
  PRIMARY KEY (scope, account, created_at, grant_id),
  CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL)),
  CHECK ((withdrawn_at IS NULL) = (withdrawal_reason IS NULL))
) PARTITION BY HASH (account);
-- A grant by its id, for its repetition and withdrawal. The id first: this index is of no use to those who
-- know only the scope, whatever the planner thinks of a table that is still empty.
CREATE INDEX grants_by_id ON grants (grant_id, scope);

-- Notifications -----------------------------------------------------------------------------------------

-- A notification of the App Store Server, as it was signed. The key is Apple's UUID: a repeat is recognised
-- by it. A write adds it. Rows are never changed or deleted.
CREATE TABLE notifications (
  -- Apple's notificationUUID.
  uuid text COLLATE "C" PRIMARY KEY,
  -- The app and environment; NULL where it names no app.
  scope integer,
  -- The row of headers with the header of the JWS.
  header integer NOT NULL,
  -- Apple's data.status, the status of a subscription; NULL without one.
  status bigint,
  -- When it was signed, by Apple's clock; NULL where it does not say.
  signed_date bigint,
  -- When it was received.
  received_at bigint NOT NULL,
  -- Apple's notificationType.
  type text COLLATE "C" NOT NULL,
  -- Apple's subtype; NULL without one.
  subtype text COLLATE "C",
  -- The first chain that its facts speak of, as a target; NULL if there is none.
  chain bytea,
  -- The digest of the payload.
  digest bytea NOT NULL,
  -- The signature of the JWS, 64 bytes.
  signature bytea NOT NULL,
  -- The stored payload. Most need the bytes of their header to be read.
  payload bytea NOT NULL
) PARTITION BY HASH (uuid);
-- The notifications of an account's chains, for its history and export.
CREATE INDEX notifications_by_chain ON notifications (scope, chain) WHERE chain IS NOT NULL;
-- The list of notifications, newest first, whatever partition they are in.
CREATE INDEX notifications_by_arrival ON notifications (received_at, uuid);

-- The feed of changes -----------------------------------------------------------------------------------

-- A change of a customer, or the events of a notification. The key is the sequence number. A write adds its
-- changes. Trimming deletes the oldest ones when they are as old as changes are kept. One table, since it is
-- read in the order of its numbers and trimmed from its beginning: its size depends on how long changes are
-- kept. A number contains the id of the transaction that wrote the row, so that a snapshot tells up to which
-- number all are there.
CREATE TABLE changes (
  -- Its number of the series of sequence numbers. The primary key serves all reads of the feed, in its order.
  sequence bigint PRIMARY KEY,
  -- The moment of the write, by the clock of its node.
  committed_at bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- ChangeKinds, a bit for each: 1 facts, 2 linked, 4 unlinked, 8 grants, 16 events, 32 merged, 64 deleted.
  kinds integer NOT NULL,
  -- The customer, if it is an account; NULL otherwise.
  account text COLLATE "C",
  -- The customer, if it is a chain without an account: its id as text. NULL otherwise. Events without a known
  -- customer have neither.
  chain text COLLATE "C",
  -- The events (StoredEvents); NULL for none.
  events bytea,
  CHECK (account IS NULL OR chain IS NULL),
  CHECK (account IS NOT NULL OR chain IS NOT NULL OR kinds = 16)
);

-- What belongs to the database as a whole. One row, which is here from the beginning.
CREATE TABLE meta (
  -- The key: there is no second row.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Added to transaction ids in sequence numbers: above 0 once the database was restored into a server whose
  -- transaction ids are lower. A node raises it when it opens the database.
  sequence_offset bigint NOT NULL DEFAULT 0,
  -- The sequence number of the last change that was deleted for its age; 0 when there was none. Trimming
  -- writes it.
  trimmed_through bigint NOT NULL DEFAULT 0,
  -- The timeline of PostgreSQL on which history_id was written; NULL until a node has started.
  history_timeline text COLLATE "C",
  -- The history of the database, a random id (DatabaseHistory). A node that meets another timeline writes a
  -- new id before it follows the feed there, so that two servers that were promoted from one base, which
  -- PostgreSQL may give the same timeline, have different ids. NULL until a node has started.
  history_id uuid
);
INSERT INTO meta DEFAULT VALUES;

-- A mark of a recent transaction, by which a node that lost its connection in the middle of a commit finds
-- out whether it was done. The key is a random token. A write adds its own, and deletes one whose outcome
-- is known. Others are deleted after a day.
CREATE TABLE commit_tokens (
  -- The random token of the transaction. The primary key serves the search for an outcome.
  token bytea PRIMARY KEY,
  -- One less than the sequence number of its first change; 0 when a node that looked for the transaction
  -- wrote the row, so that the transaction can never be committed.
  base bigint NOT NULL,
  -- When it was written, by the clock of the database.
  written_at timestamptz NOT NULL DEFAULT now(),
  -- The version of the schema that the writer knows. A migration that its writers must know raises the
  -- bound, so that programs of a former version cannot commit any more.
  writer_schema integer NOT NULL CHECK (writer_schema >= 1)
);

-- Jobs of the App Store Server API ----------------------------------------------------------------------

-- A job that is done in the end, whatever fails meanwhile (R79): a refetch of a chain, the reconciliation
-- of an app, or an answer about the consumption of a purchase. There is one for each subject, which is
-- opened again and never deleted. The key is a number; what it is about is unique too. A write adds and
-- changes it. A lease is a statement of its own. Not partitioned: only few chains ever need one.
CREATE TABLE app_store_jobs (
  -- The order of lists, and the id for operators. The primary key serves the list of all, and each change.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The app and environment.
  scope integer NOT NULL,
  -- An AppStoreJobKind: 1 refetch, 2 reconciliation, 3 consumption.
  kind smallint NOT NULL,
  -- What it is about, as text: the original transaction id of a refetch, which need not be known; the
  -- transaction id of consumption; empty for a reconciliation.
  chain text COLLATE "C" NOT NULL,
  -- An AppStoreJob.State: 1 open, 2 done, 3 given up, 4 cancelled.
  state smallint NOT NULL,
  -- How often it was opened, also while it was open.
  opening bigint NOT NULL,
  -- Why the purchases are fetched, since it was opened: the bit n for the RefetchReason n. 0 for other kinds.
  reasons bigint NOT NULL,
  -- When it was opened.
  opened_at bigint NOT NULL,
  -- When its state or its last attempt ended.
  changed_at bigint NOT NULL,
  -- When an open job is attempted at the earliest. Of a leased job: when its lease ends.
  due_at bigint NOT NULL,
  -- The text that its holder made for the lease; NULL when it is not leased.
  lease text COLLATE "C",
  -- Attempts that failed since it was opened or retried, or has advanced.
  failures bigint NOT NULL,
  -- Attempts since it was opened or retried that the App Store answered without clearing the reasons.
  unexplained bigint NOT NULL,
  -- Why the last attempt failed or waits, in one line of at most 256 bytes; empty when it did not.
  last_failure text COLLATE "C" NOT NULL,
  -- From when on a reconciliation asks for notifications, by Apple's clock; NULL for other kinds.
  since bigint,
  -- Until when the last reconciliation that is done asked for notifications, by Apple's clock; NULL when
  -- there was none.
  complete_until bigint,
  -- Where the next attempt goes on. Only what does the work knows its meaning. Empty for the beginning.
  cursor text COLLATE "C" NOT NULL,
  -- Calls of the App Store Server API since it was opened, without those that Apple refused.
  calls bigint NOT NULL,
  -- Signed payloads that came back since it was opened.
  payloads bigint NOT NULL,
  -- Those of them that were not stored before.
  added bigint NOT NULL,
  -- Those of them that were refused.
  refused bigint NOT NULL,
  -- The job of a subject, for each write that may open, report or read it.
  UNIQUE (scope, kind, chain)
);
-- The lease of due jobs; whether one is due, and when the first one is.
CREATE INDEX app_store_jobs_due ON app_store_jobs (scope, due_at, id) WHERE state = 1;
-- The list of jobs in a state, and how many are open or given up.
CREATE INDEX app_store_jobs_by_state ON app_store_jobs (state, id);
-- The lease of consumption (3), which goes first as it has a deadline.
CREATE INDEX app_store_jobs_due_consumption ON app_store_jobs (scope, due_at, id)
  WHERE state = 1 AND kind = 3;

-- Consumption -------------------------------------------------------------------------------------------

-- What the backend says of the consumption of a purchase, which need not be known, and the App Store's
-- request for it (R86). The key is a number; the purchase is unique too. A write adds and changes it. Rows
-- are never deleted. Not partitioned: refunds are asked for of few purchases.
CREATE TABLE consumption_requests (
  -- The order of lists. The primary key serves each change.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The app and environment.
  scope integer NOT NULL,
  -- The transaction id of the purchase, as text.
  transaction_id text COLLATE "C" NOT NULL,
  -- How much of it is consumed, in thousandths of a percent; NULL when the backend stated nothing.
  percentage bigint,
  -- How it was delivered, in Apple's word; NULL when the backend stated nothing.
  delivery_status text COLLATE "C",
  -- A ConsumptionRequest.State: 1 open, 2 sent, 3 not sent. NULL, as all that follows, while there is no
  -- request.
  state smallint,
  -- A ConsumptionCause: what an open request waits for, or why one was not sent. NULL for none.
  cause smallint,
  -- The first notification that asked.
  notification_uuid text COLLATE "C",
  -- Apple's consumptionRequestReason; NULL without one.
  reason text COLLATE "C",
  -- When the App Store signed it, by Apple's clock. The deadline is 12 hours later.
  requested_at bigint,
  -- What was sent, or why the last call failed, of at most 256 bytes; empty for none.
  detail text COLLATE "C",
  -- Calls that were begun since it was opened.
  attempts bigint,
  -- The lease of an attempt that has begun a call and did not tell how it ended; NULL for none.
  sending text COLLATE "C",
  -- When it was opened.
  opened_at bigint,
  -- When the request changed last.
  changed_at bigint,
  -- The record of a purchase, for each write that needs it.
  UNIQUE (scope, transaction_id)
);
-- The list of requests in a state.
CREATE INDEX consumption_requests_by_state ON consumption_requests (state, id) WHERE state IS NOT NULL;
-- The list of all requests.
CREATE INDEX consumption_requests_asked ON consumption_requests (id) WHERE state IS NOT NULL;
-- How many requests are open, and which is nearest to its deadline.
CREATE INDEX consumption_requests_open ON consumption_requests (scope, requested_at) WHERE state = 1;

-- Whether a customer consents that the App Store is told about consumption (R86). The key is the app and the
-- account. A write adds and replaces it. It is deleted with its account, and by a merge with an account that
-- did not consent. Not partitioned: only accounts that were asked have one.
CREATE TABLE consumption_consents (
  -- The app and environment.
  scope integer NOT NULL,
  -- The account of the customer.
  account text COLLATE "C" NOT NULL,
  -- Whether the customer consents.
  is_given boolean NOT NULL,
  -- When it was recorded.
  at bigint NOT NULL,
  -- The caller that recorded it.
  author text COLLATE "C" NOT NULL,
  -- For whom the author acted, as the author said; NULL when it did not say.
  on_behalf_of text COLLATE "C",
  -- The reason, in the caller's words.
  note text COLLATE "C" NOT NULL,
  -- The consent of an account.
  PRIMARY KEY (scope, account)
);

-- Imports of accounts -----------------------------------------------------------------------------------

-- An import of accounts (R89). The key is a number; the name is unique too. The first batch of rows adds it,
-- in the transaction that stores the rows. An operator deletes it, after its rows.
CREATE TABLE imports (
  -- The order of lists. Rows name it. The primary key serves the list, and each statement with rows.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The app and the id that the caller chose, with a slash between them (AccountImportName). Its index serves
  -- each call that names an import.
  name text COLLATE "C" NOT NULL UNIQUE,
  -- The app of all its rows.
  bundle_id text COLLATE "C" NOT NULL,
  -- The caller that began it.
  author text COLLATE "C" NOT NULL,
  -- When it was begun.
  began_at bigint NOT NULL,
  -- How many rows were stored for it. The sum of all imports is limited.
  rows bigint NOT NULL
);

-- A customer that an import names: an account and a transaction, of which the App Store is asked. The key
-- is the import and the number of the line. A batch adds it. The process that has leased it reports what
-- became of it. Operators cancel, retry and delete rows of an import. The deletion of the account deletes
-- it.
CREATE TABLE import_rows (
  -- The import.
  import bigint NOT NULL REFERENCES imports (id),
  -- The number of the line.
  number bigint NOT NULL,
  -- The app and environment.
  scope integer NOT NULL,
  -- Whether the Sandbox is asked too when Production does not know the transaction.
  falls_back boolean NOT NULL,
  -- The account that gets the purchases. It need not be known.
  account text COLLATE "C" NOT NULL,
  -- Any transaction id of the customer, or that of an app transaction, as text.
  transaction_id text COLLATE "C" NOT NULL,
  -- The app account token that is bound to the account, as text; NULL for none.
  token text COLLATE "C",
  -- An AccountImportRow.State: 1 waiting, 2 done, 3 failed, 4 duplicate, 5 cancelled.
  state smallint NOT NULL,
  -- Why a row failed, an AccountImportRow.Reason: 1 is invalid, 3 a conflict. 0 for none.
  reason smallint NOT NULL,
  -- The same for people, or why a waiting row waits, of at most 256 bytes; empty for none.
  detail text COLLATE "C" NOT NULL,
  -- When a waiting row is attempted at the earliest. Of a leased row: when its lease ends.
  due_at bigint NOT NULL,
  -- The text that its holder made for the lease; NULL when it is not leased.
  lease text COLLATE "C",
  -- Attempts in a row that failed.
  failures bigint NOT NULL,
  -- Attempts in a row that the App Store refused.
  refusals bigint NOT NULL,
  -- Where the next attempt goes on; empty for the beginning.
  cursor text COLLATE "C" NOT NULL,
  -- When its state changed, or it was reported last.
  changed_at bigint NOT NULL,
  -- Rows by their numbers, for batches, reports and changes by operators; the last row of an import.
  PRIMARY KEY (import, number)
);
-- The list of rows in a state.
CREATE INDEX import_rows_by_state ON import_rows (import, state, number);
-- How many rows are in each state, for each reason.
CREATE INDEX import_rows_by_reason ON import_rows (import, state, reason);
-- The lease of due rows; whether one is due; how many wait.
CREATE INDEX import_rows_due ON import_rows (scope, due_at, import, number) WHERE state = 1;
-- Other rows with the transaction, for duplicates and conflicts.
CREATE INDEX import_rows_by_transaction ON import_rows (scope, transaction_id);
-- The rows that name an account, for its export and deletion.
CREATE INDEX import_rows_by_account ON import_rows (scope, account);

-- The audit trail ---------------------------------------------------------------------------------------

-- An entry of the audit trail: a call that changes something by decision (R76-R78). The key is the chain
-- and the position. A write adds the entries of its calls. The hash covers all other columns. Entries hold
-- no id of a customer. Only retention deletes them, with a seal that says so.
CREATE TABLE audit_entries (
  -- The random id of the chain. Each run of a server writes a chain of its own.
  chain text COLLATE "C" NOT NULL,
  -- The place in the chain, from 1 without holes.
  position bigint NOT NULL,
  -- The name of the node.
  node text COLLATE "C" NOT NULL,
  -- When the call was served.
  at bigint NOT NULL,
  -- The address of the peer; unix for a Unix socket; server for the server itself.
  peer text COLLATE "C" NOT NULL,
  -- The method of the protocol, or the name of what the server did by itself.
  method text COLLATE "C" NOT NULL,
  -- The app; empty for a call about the server as a whole.
  bundle_id text COLLATE "C" NOT NULL,
  -- The environment; empty for a call about the server as a whole.
  environment text COLLATE "C" NOT NULL,
  -- The pseudonym of the account; empty when none is concerned.
  account text COLLATE "C" NOT NULL,
  -- The pseudonym of the account that lost something to the other one; empty when there is none.
  former_account text COLLATE "C" NOT NULL,
  -- The name of the caller.
  author text COLLATE "C" NOT NULL,
  -- Why, in the caller's words; empty for a method without a reason.
  reason text COLLATE "C" NOT NULL,
  -- What was changed, by an id that is not Apple's; empty for none.
  subject text COLLATE "C" NOT NULL,
  -- An AuditOutcome.
  outcome text COLLATE "C" NOT NULL,
  -- The hash of the entry before it in the chain; empty for the first one.
  previous text COLLATE "C" NOT NULL,
  -- The hash of the entry: a whole SHA-256 in hexadecimal, as all hashes of the trail.
  hash text COLLATE "C" NOT NULL,
  -- For whom the caller acted, as the caller said; empty when it did not say.
  on_behalf_of text COLLATE "C" NOT NULL,
  -- How the caller proved its name, an AuditProof: none, token, certificate or user.
  proof text COLLATE "C" NOT NULL,
  -- The id of the caller's token; empty for another proof.
  token_id text COLLATE "C" NOT NULL,
  -- The entries of a chain, for verification, export and retention.
  PRIMARY KEY (chain, position)
);
-- The list of entries by time; the oldest ones, for retention.
CREATE INDEX audit_entries_by_time ON audit_entries (at, chain, position);

-- The last entry of a chain. The key is the chain. The write that adds entries moves it, and a seal notes
-- itself in it. One process writes a chain.
CREATE TABLE audit_heads (
  -- The chain. The primary key serves each write with entries, and seals.
  chain text COLLATE "C" PRIMARY KEY,
  -- The position of the last entry.
  position bigint NOT NULL,
  -- The hash of the last entry.
  hash text COLLATE "C" NOT NULL,
  -- The last position by the last seal that names the chain; 0 without one.
  sealed_position bigint NOT NULL DEFAULT 0,
  -- The last position that retention removed, by the same seal; 0 for none.
  removed_position bigint NOT NULL DEFAULT 0,
  -- The hash of that entry; empty for none.
  removed_hash text COLLATE "C" NOT NULL DEFAULT ''
);
-- The chains that grew since their last seal.
CREATE INDEX audit_heads_unsealed ON audit_heads (chain) WHERE position <> sealed_position;

-- A seal over the chains that grew, or were shortened, since the seal before it. Seals are a chain too. The
-- key is the number. The process with the lease adds it. Rows never change and are never deleted.
CREATE TABLE audit_seals (
  -- From 1 without holes. The primary key serves the list of seals, and the last one.
  number bigint PRIMARY KEY,
  -- When it was written, by the clock of the database.
  at bigint NOT NULL,
  -- The name of the node that wrote it.
  node text COLLATE "C" NOT NULL,
  -- The hash of the seal before it; empty for the first one.
  previous text COLLATE "C" NOT NULL,
  -- The hash of the seal and its chains.
  hash text COLLATE "C" NOT NULL
);

-- A chain in a seal. The key is the seal and the chain. It is added with its seal, and never changes.
CREATE TABLE audit_seal_chains (
  -- The number of the seal.
  number bigint NOT NULL,
  -- The chain.
  chain text COLLATE "C" NOT NULL,
  -- The position of its last entry.
  position bigint NOT NULL,
  -- The hash of its last entry.
  hash text COLLATE "C" NOT NULL,
  -- The last position that retention has removed; 0 for none.
  removed_position bigint NOT NULL,
  -- The hash of that entry; empty for none.
  removed_hash text COLLATE "C" NOT NULL,
  -- The chains of seals, for verification and export.
  PRIMARY KEY (number, chain)
);

-- The process that seals, and until when. One row at most, which that process writes.
CREATE TABLE audit_lease (
  -- The key: there is no second row.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The random id of the process.
  holder text COLLATE "C" NOT NULL,
  -- Another process may take the lease from then on, by the clock of the database.
  expires_at timestamptz NOT NULL
);

-- The pseudonym of an account in the trail: the only place that tells whose an entry is (R77). The key is
-- the app and the account. The write of the first entry about the account adds it, and that of the entry
-- about its deletion deletes it.
CREATE TABLE audit_accounts (
  -- The app and environment.
  scope integer NOT NULL,
  -- The account.
  account text COLLATE "C" NOT NULL,
  -- 128 random bits in hexadecimal.
  pseudonym text COLLATE "C" NOT NULL,
  -- The pseudonym of an account, for its entries and for filters.
  PRIMARY KEY (scope, account)
);

-- Refuses changes of entries and seals. It is against mistakes: the owner of a table can drop a trigger. Only
-- retention deletes, and it says so by a setting of its transaction.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('entitle.audit_removal', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit trail is append-only';
END
$$;
CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_entries_are_kept BEFORE TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_seals_stay BEFORE UPDATE OR DELETE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_seals_are_kept BEFORE TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_seal_chains_stay BEFORE UPDATE OR DELETE ON audit_seal_chains
  FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_seal_chains_are_kept BEFORE TRUNCATE ON audit_seal_chains
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- Partitions --------------------------------------------------------------------------------------------

-- Each partitioned table has eight partitions, from facts_0 to facts_7, so that an extension can spread
-- them over machines. A plan locks and opens every partition that it might need: a read of a customer takes
-- 0.17 ms with one, 0.22 ms with eight, 0.3 to 0.5 ms with sixteen. With eight, the indexes of ten million
-- customers are still of a bearable size.
DO $$
DECLARE
  name text;
  options text;
BEGIN
  FOREACH name IN ARRAY ARRAY['documents', 'facts', 'versions', 'transactions', 'links', 'link_events',
    'account_events', 'accounts', 'tokens', 'grants', 'notifications']
  LOOP
    options := CASE
      -- Each change of a customer updates the account, and each renewal a fact. An update in the page of the
      -- row writes to no index. The 245 bytes that are left mostly suffice for the first one (a large fact
      -- goes elsewhere); the old row makes room for the next ones.
      WHEN name IN ('accounts', 'facts') THEN ' WITH (fillfactor = 97)'
      -- Rows of the others are hardly ever updated.
      ELSE '' END;
    FOR number IN 0..7 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)%s',
        name || '_' || number, name, number, options);
    END LOOP;
  END LOOP;
END
$$;
