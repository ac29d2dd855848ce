extension Schema {
  /// The tables of version 1, in the order in which they refer to each other.
  ///
  /// SQLite stores the text of a statement with the comments inside of it.
  static let version1 = """
    -- Conventions:
    -- - Moments are milliseconds since 1970-01-01T00:00:00Z.
    -- - Flags are 0 or 1. The comment of a flag says what 1 means.
    -- - A column named id is the row id. A column scope_id is the app and environment of the row.
    -- - Ids in BLOB columns have the form of `PackedIdentifier`. Those in TEXT columns are plain.
    -- - A digest is the first 16 bytes of a SHA-256, where the comment names no other one.
    -- - Payloads have the stored form of `PayloadCompressor`, whose first byte tells it.

    -- One row for each app in an environment. Environments never mix (R9).
    CREATE TABLE scopes (
      id INTEGER PRIMARY KEY,
      -- A `StoreEnvironment`, such as Production.
      environment TEXT NOT NULL,
      -- The bundle id of the app.
      bundle_id TEXT NOT NULL,
      -- Finds the row of an app and environment.
      UNIQUE (environment, bundle_id)
    ) STRICT;

    -- One row for each byte string that many rows share: JWS headers and authors of links.
    CREATE TABLE headers (
      id INTEGER PRIMARY KEY,
      -- One of three: the header segment of a JWS in base64url, some 4 kB; the encoded form of a
      -- `LinkAuthor`; empty, for facts out of a document. The unique index finds a row by them.
      bytes BLOB NOT NULL UNIQUE
    ) STRICT;

    -- One row for each legacy receipt or archived response. All facts out of it share the row. It
    -- is deleted when no fact refers to it any more.
    CREATE TABLE documents (
      id INTEGER PRIMARY KEY,
      -- The digest of the whole document, uncompressed. The unique index finds a document by it: an
      -- index on the bytes would hold each document twice.
      digest BLOB NOT NULL UNIQUE,
      -- The document in its stored form.
      bytes BLOB NOT NULL
    ) STRICT;

    -- One row for each customer of an app: an account id of the backend. A row without purchases
    -- stays, because the history of links refers to it.
    CREATE TABLE accounts (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The id that the backend chose.
      account_id TEXT NOT NULL,
      -- The sequence number of the latest change in the feed; 0: there was none.
      revision INTEGER NOT NULL DEFAULT 0,
      -- The moment of that change. Before the first change: when the row was inserted.
      updated_at INTEGER NOT NULL,
      -- The account that this one was merged into, which is never merged itself; NULL: not merged.
      merged_into INTEGER REFERENCES accounts (id),
      -- 1: the account is deleted. The row keeps revision and claims while the feed tells of it.
      is_deleted INTEGER NOT NULL DEFAULT 0,
      -- The number of granted claims since `claims_since`, for the limit of claims (R44).
      claims INTEGER NOT NULL DEFAULT 0,
      -- The moment of the first of these claims; NULL: no claim was granted.
      claims_since INTEGER,
      -- The number of chains that are linked to it, for the limit of chains (R68).
      chains INTEGER NOT NULL DEFAULT 0,
      -- Finds an account by its id.
      UNIQUE (scope_id, account_id)
    ) STRICT;
    -- The accounts that were merged into one: its history, holdings, export and audit entries.
    CREATE INDEX accounts_by_merger ON accounts (merged_into) WHERE merged_into IS NOT NULL;
    -- Deleted accounts whose deletion the feed no longer has. Trimming deletes their rows.
    CREATE INDEX accounts_deleted ON accounts (revision) WHERE is_deleted = 1;
    -- Pages of the list of accounts, without merged and deleted ones.
    CREATE INDEX accounts_listed ON accounts (scope_id, account_id)
      WHERE merged_into IS NULL AND is_deleted = 0;

    -- One row for each chain: all transactions with one original transaction id. Each chain that
    -- has a fact has a row, with or without an account.
    CREATE TABLE chains (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The id of the chain.
      original_transaction_id BLOB NOT NULL,
      -- The account that has the chain; NULL: none.
      account INTEGER REFERENCES accounts (id),
      -- The sequence number of the latest change as a chain without an account; 0: there was none.
      revision INTEGER NOT NULL DEFAULT 0,
      -- The moment of that change; 0: there was none.
      updated_at INTEGER NOT NULL DEFAULT 0,
      -- 1: the account was named with unsigned data only. The link leads no other purchase to it.
      is_link_unsigned INTEGER NOT NULL,
      -- 1: a request took the chain from its account. Hints do not link it again.
      is_detached INTEGER NOT NULL,
      -- 1: a signed transaction of another chain names, or once named, this one (R7). It tells the
      -- app of the chain (R55).
      is_former_chain INTEGER NOT NULL,
      -- A `LinkStanding`: what the link rests on. 2 is contested, 4 is disputed.
      standing INTEGER NOT NULL
    ) STRICT;
    -- Finds a chain by its id, for submissions and for reads by transaction.
    CREATE UNIQUE INDEX chains_by_identifier ON chains (scope_id, original_transaction_id);
    -- The chains of an account: each read of it, its links, its export.
    CREATE INDEX chains_by_account ON chains (account) WHERE account IS NOT NULL;
    -- Pages of the list of chains without an account.
    CREATE INDEX chains_unlinked ON chains (scope_id, original_transaction_id)
      WHERE account IS NULL;

    -- One row for each app transaction id that has, or had, an account. Its fact need not be known.
    CREATE TABLE app_transactions (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- Apple's id. Where Apple signed none: `sha256:` and the digest of the payload.
      app_transaction_id BLOB NOT NULL,
      -- The account that has it; NULL: none, because it was taken from its account.
      account INTEGER REFERENCES accounts (id),
      -- 1: the account was named with unsigned data only. The link leads no other purchase to it.
      is_link_unsigned INTEGER NOT NULL,
      -- 1: a request took it from its account. Hints do not link it again.
      is_detached INTEGER NOT NULL,
      -- A `LinkStanding`: what the link rests on. 2 is contested, 4 is disputed.
      standing INTEGER NOT NULL,
      PRIMARY KEY (scope_id, app_transaction_id)
    ) STRICT, WITHOUT ROWID;
    -- The app transactions of an account: each read of it, its links, its export.
    CREATE INDEX app_transactions_by_account ON app_transactions (account)
      WHERE account IS NOT NULL;

    -- One row for each fact: the version of it that stands (R5). The key is the scope, the kind and
    -- the identifier. Reads put the identifier, the hints and the signing moment back into the
    -- payload (`RowTexts`), so a change of one of these columns must write it again.
    CREATE TABLE facts (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- A `FactKind`: 1 transaction, 2 renewal info, 3 app transaction.
      kind INTEGER NOT NULL,
      -- Of a transaction its id, of a renewal info the original transaction id, of an app
      -- transaction the id that `app_transactions` has.
      identifier BLOB NOT NULL,
      -- The chain of the fact; NULL: it is an app transaction.
      chain_id INTEGER REFERENCES chains (id),
      -- The appTransactionId, which is a hint (`FactHints`); NULL: the fact has none. An app
      -- transaction has no hints.
      app_transaction_id BLOB,
      -- The appAccountToken, the second hint; NULL: the fact has none, or is unsigned.
      app_account_token BLOB,
      -- The previousOriginalTransactionId, the third hint; NULL: the fact has none, or is unsigned.
      previous_chain BLOB,
      -- A `FactAuthority`: 0 archived response, 1 receipt, 2 JWS.
      authority INTEGER NOT NULL,
      -- The moment of the signature, by Apple's clock.
      signed_date INTEGER NOT NULL,
      -- 1: the transaction has a revocationDate.
      is_revoked INTEGER NOT NULL,
      -- 1: the transaction has isUpgraded.
      is_upgraded INTEGER NOT NULL,
      -- The header of the JWS. A fact out of a document has the empty one.
      header_id INTEGER NOT NULL REFERENCES headers (id),
      -- The document that has the fact; NULL: it came as a JWS.
      document_id INTEGER REFERENCES documents (id),
      -- The digest of the payload, uncompressed (`PayloadDigest`).
      digest BLOB NOT NULL,
      -- The JSON that Apple signed, in its stored form.
      payload BLOB NOT NULL,
      -- The signature of the JWS. A fact out of a document has no bytes here.
      signature BLOB NOT NULL,
      -- All versions with their signing moments (`FactHistory`, R53); NULL: there is one version,
      -- and it was signed once.
      history BLOB,
      -- The payload, uncompressed, of the statement that completes this one (`FactSupplement`,
      -- R92); NULL: there is none.
      supplement BLOB,
      CHECK (document_id IS NULL OR length(signature) = 0)
    ) STRICT;
    -- Finds a fact by its key, for each submission.
    CREATE UNIQUE INDEX facts_by_identifier ON facts (scope_id, kind, identifier);
    -- The facts of a chain, for each read of a customer.
    CREATE INDEX facts_by_chain ON facts (chain_id) WHERE chain_id IS NOT NULL;
    -- The next two indexes have a part of an id, which makes them smaller. A statement compares the
    -- part, to use the index, and then the whole id: two ids with one part cost a look at a row.
    -- Chains by a token: for reads by token, and to link chains without an account. The part is the
    -- tag of a UUID and 32 of its bits.
    CREATE INDEX facts_by_token ON facts (scope_id, substr(app_account_token, 1, 5))
      WHERE app_account_token IS NOT NULL;
    -- Chains by an app transaction id: the same. The part is the last ten digits, because the first
    -- digits of these ids are alike.
    CREATE INDEX facts_by_app_transaction ON facts (scope_id, substr(app_transaction_id, -5))
      WHERE app_transaction_id IS NOT NULL;
    -- Chains without an account that name another chain as their previous one, to link them.
    CREATE INDEX facts_by_previous_chain ON facts (scope_id, previous_chain, chain_id)
      WHERE previous_chain IS NOT NULL;
    -- Whether a fact still refers to a document, before the document is deleted.
    CREATE INDEX facts_by_document ON facts (document_id) WHERE document_id IS NOT NULL;

    -- One row for each version of a fact that does not stand (R53). The key is the fact and the
    -- statement. Reads of a past moment and exports use it.
    CREATE TABLE versions (
      id INTEGER PRIMARY KEY,
      -- The fact of which this is a version.
      fact_id INTEGER NOT NULL REFERENCES facts (id),
      -- The `StatementDigest`: the digest of what the version says, whenever it was signed.
      statement BLOB NOT NULL,
      -- A `FactAuthority`: 0 archived response, 1 receipt, 2 JWS.
      authority INTEGER NOT NULL,
      -- The header of the JWS. A version out of a document has the empty one.
      header_id INTEGER NOT NULL REFERENCES headers (id),
      -- One of the payloads that say this, in its stored form. It needs no other column.
      payload BLOB NOT NULL,
      -- The signature of the JWS. A version out of a document has no bytes here, and does not keep
      -- the document.
      signature BLOB NOT NULL,
      -- Finds the versions of a fact, and one of them by its statement.
      UNIQUE (fact_id, statement)
    ) STRICT;

    -- One row for each change of the account of a chain or app transaction (R46). Rows are never
    -- deleted. Ids grow in the order of the changes.
    CREATE TABLE link_history (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      -- The chain; NULL: the row is about an app transaction.
      chain_id INTEGER REFERENCES chains (id),
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The app transaction; NULL: the row is about a chain.
      app_transaction_id BLOB,
      -- The account that had it; NULL: none had it, or that account is erased.
      from_account INTEGER REFERENCES accounts (id),
      -- The account that has it afterwards; NULL: none has it, or that account is erased.
      to_account INTEGER REFERENCES accounts (id),
      -- A `LinkReason`, as its `storedNumber`.
      reason INTEGER NOT NULL,
      -- The moment of the change.
      at INTEGER NOT NULL,
      -- The caller that caused the change (`LinkAuthor`); NULL: not known.
      author INTEGER REFERENCES headers (id),
      -- Why a request asked for the change, in the caller's words; NULL: a submission caused it.
      note TEXT,
      -- 1: the former account was deleted, and its id is erased here.
      is_from_erased INTEGER NOT NULL CHECK (is_from_erased = 0 OR from_account IS NULL),
      -- 1: the latter account was deleted, and its id is erased here.
      is_to_erased INTEGER NOT NULL CHECK (is_to_erased = 0 OR to_account IS NULL),
      -- For whom the caller acted, as the caller said; NULL: it did not say.
      on_behalf_of TEXT,
      -- The trace id of the call that caused the change, 16 bytes; NULL: it was not traced.
      trace BLOB,
      CHECK ((chain_id IS NULL) <> (app_transaction_id IS NULL))
    ) STRICT;
    -- The history of a chain, and its last change for the links of an account.
    CREATE INDEX link_history_by_chain ON link_history (chain_id) WHERE chain_id IS NOT NULL;
    -- The same of an app transaction, by the part of its id that `facts_by_app_transaction` has.
    CREATE INDEX link_history_by_app_transaction
      ON link_history (scope_id, substr(app_transaction_id, -5))
      WHERE app_transaction_id IS NOT NULL;
    -- The changes that took something from an account: its history, and its erasure.
    CREATE INDEX link_history_by_former ON link_history (from_account)
      WHERE from_account IS NOT NULL;
    -- The changes that gave an account something: its history, and its erasure.
    CREATE INDEX link_history_by_latter ON link_history (to_account) WHERE to_account IS NOT NULL;

    -- One row for the last refused claim of an account on a chain or app transaction (R91). Of each
    -- target and of each account only the latest ones are kept, for a limited time.
    CREATE TABLE refused_claims (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- 1: the target is a chain; 0: an app transaction.
      is_chain INTEGER NOT NULL,
      -- The id of the target.
      identifier BLOB NOT NULL,
      -- The id of the account that claimed. The account need not be known.
      claimer TEXT NOT NULL,
      -- The moment of the claim.
      at INTEGER NOT NULL,
      -- The caller that submitted the claim (`LinkAuthor`); NULL: not known.
      author INTEGER REFERENCES headers (id),
      -- The trace id of the call, 16 bytes; NULL: it was not traced.
      trace BLOB,
      PRIMARY KEY (scope_id, is_chain, identifier, claimer)
    ) STRICT, WITHOUT ROWID;
    -- The oldest claims of a target, which are deleted beyond the limit.
    CREATE INDEX refused_claims_by_target
      ON refused_claims (scope_id, is_chain, identifier, at, claimer);
    -- The claims of an account: its history, its limit, its erasure.
    CREATE INDEX refused_claims_by_claimer
      ON refused_claims (scope_id, claimer, at, is_chain, identifier);
    -- The claims that are too old.
    CREATE INDEX refused_claims_by_moment ON refused_claims (at);

    -- One row for each appAccountToken that is learned, ambiguous or bound (R71).
    CREATE TABLE account_tokens (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The appAccountToken.
      token BLOB NOT NULL,
      -- The account of the token, of an ambiguous one the first account; NULL: the token is
      -- ambiguous, and that account was deleted.
      account INTEGER REFERENCES accounts (id),
      -- An `AccountTokenState`: 1 learned, 2 ambiguous, 3 bound.
      state INTEGER NOT NULL,
      -- The name of the caller that bound it; NULL: no request bound it.
      author TEXT,
      -- Why it was bound, in the caller's words; NULL: no request bound it.
      note TEXT,
      -- The moment at which it got its state.
      since INTEGER NOT NULL,
      -- For whom the caller acted, as the caller said; NULL: it did not say.
      on_behalf_of TEXT,
      PRIMARY KEY (scope_id, token),
      CHECK (account IS NOT NULL OR state = 2)
    ) STRICT, WITHOUT ROWID;
    -- The tokens of an account: lists, merges, deletion, export.
    CREATE INDEX account_tokens_by_account ON account_tokens (account, token)
      WHERE account IS NOT NULL;
    -- Pages of the list of ambiguous tokens.
    CREATE INDEX account_tokens_ambiguous ON account_tokens (scope_id, token) WHERE state = 2;

    -- One row for each entitlement that an operator gave an account, also when it was withdrawn.
    -- The key is the scope and the grant id.
    CREATE TABLE grants (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The id of the grant.
      grant_id TEXT NOT NULL,
      -- The account that has the grant.
      account INTEGER NOT NULL REFERENCES accounts (id),
      -- The id of the entitlement in the catalog.
      entitlement_id TEXT NOT NULL,
      -- The moment from which it confers.
      starts INTEGER NOT NULL,
      -- The moment at which it ends; NULL: it has no end.
      expires INTEGER,
      -- Why it was given, in the caller's words.
      reason TEXT NOT NULL,
      -- The name of the caller that gave it.
      author TEXT NOT NULL,
      -- The moment at which it was given.
      created_at INTEGER NOT NULL,
      -- The moment of the withdrawal; NULL, as the next two: it was not withdrawn.
      withdrawn_at INTEGER,
      -- The name of the caller that withdrew it.
      withdrawn_by TEXT,
      -- Why it was withdrawn, in the caller's words.
      withdrawal_reason TEXT,
      -- For whom the author acted, as the author said; NULL: it did not say.
      on_behalf_of TEXT,
      -- The same of the caller that withdrew it.
      withdrawn_on_behalf_of TEXT,
      -- Finds a grant by its id.
      UNIQUE (scope_id, grant_id),
      CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL)),
      CHECK ((withdrawn_at IS NULL) = (withdrawal_reason IS NULL))
    ) STRICT;
    -- The grants of an account in the order of lists, for each read of it.
    CREATE INDEX grants_by_account ON grants (account, created_at, grant_id);

    -- One row for each verified notification of the App Store. The key is the UUID, which
    -- recognises repeats. Ids grow in the order of commits. Rows are never deleted.
    CREATE TABLE notifications (
      id INTEGER PRIMARY KEY,
      -- The notificationUUID. The unique index finds a notification by it.
      uuid TEXT NOT NULL UNIQUE,
      -- NULL: the notification names no app and environment.
      scope_id INTEGER REFERENCES scopes (id),
      -- The notificationType as it came, known or unknown.
      type TEXT NOT NULL,
      -- NULL: it has none.
      subtype TEXT,
      -- Apple's status of the subscription (data.status); NULL: it has none.
      status INTEGER,
      -- The moment of the signature, by Apple's clock; NULL: it has none.
      signed_date INTEGER,
      -- The moment at which it was received.
      received_at INTEGER NOT NULL,
      -- The digest of the payload, uncompressed (`PayloadDigest`).
      digest BLOB NOT NULL,
      -- The header of its JWS, which is also needed to read the payload.
      header_id INTEGER NOT NULL REFERENCES headers (id),
      -- The JSON that Apple signed, in its stored form.
      payload BLOB NOT NULL,
      -- The signature of the JWS.
      signature BLOB NOT NULL,
      -- The first chain that its facts are about; NULL: they are about none.
      chain_id INTEGER REFERENCES chains (id)
    ) STRICT;
    -- The notifications of a chain, for the history and the export of an account.
    CREATE INDEX notifications_by_chain ON notifications (chain_id) WHERE chain_id IS NOT NULL;

    -- One row for each change in the feed. The key is the sequence number. The writer gives the
    -- numbers in the order of commits, without gaps. Trimming deletes the oldest rows.
    CREATE TABLE changes (
      -- The sequence number. It becomes the revision of the customer, except for events alone.
      sequence INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The account that changed; NULL: the change is of a chain or of no customer. It is no
      -- foreign key: SQLite would search the whole feed before it deletes an account. The row of a
      -- deleted account stays until the changes that name it are trimmed.
      account INTEGER,
      -- The chain without an account that changed; NULL: the change is of an account or of no
      -- customer.
      chain_id INTEGER REFERENCES chains (id),
      -- `ChangeKinds`, one bit each: 1 facts, 2 linked, 4 unlinked, 8 grants, 16 events, 32 merged,
      -- 64 deleted.
      kinds INTEGER NOT NULL,
      -- The moment of the write.
      committed_at INTEGER NOT NULL,
      CHECK (account IS NULL OR chain_id IS NULL),
      -- A change of no customer has events only.
      CHECK (account IS NOT NULL OR chain_id IS NOT NULL OR kinds = 16)
    ) STRICT;

    -- One row for each event of a change: what a notification asks for or tells, or what the server
    -- found. Ids are those of the event: it may name a transaction that is not known.
    CREATE TABLE change_events (
      -- The change that has the event.
      sequence INTEGER NOT NULL REFERENCES changes (sequence),
      -- The position among the events of the change, from 0.
      position INTEGER NOT NULL,
      -- A `FeedEventKind`.
      kind INTEGER NOT NULL,
      -- The UUID of the notification; empty: no notification tells of it.
      notification_uuid TEXT NOT NULL,
      -- The chain concerned; NULL: none is named.
      original_transaction_id TEXT,
      -- The transaction concerned; NULL: none is named.
      transaction_id TEXT,
      -- The moment until which an action is useful; NULL: there is no limit.
      deadline INTEGER,
      -- A `RefetchReason`; NULL: the event asks for no refetch.
      refetch_reason INTEGER,
      -- The cause or the details, in one line; NULL: there are none.
      detail TEXT,
      PRIMARY KEY (sequence, position)
    ) STRICT, WITHOUT ROWID;

    -- One row: how far the feed is trimmed, and the clock by which it is trimmed.
    CREATE TABLE feed (
      -- Always 1.
      id INTEGER PRIMARY KEY CHECK (id = 1),
      -- The sequence number of the last change that was trimmed; 0: none was. Every number that was
      -- given is at most this one or the last one in `changes`, so that none is given twice.
      trimmed_through INTEGER NOT NULL,
      -- The latest time that is trusted for trimming (`TrimmingClock`), as a moment; NULL: trimming
      -- has not begun.
      trimming_time INTEGER,
      -- That time when the clock stepped ahead, as a moment; NULL: the clock is trusted.
      clock_stepped_at INTEGER,
      -- How far the clock stepped ahead, in milliseconds; NULL: the clock is trusted.
      clock_step INTEGER
    ) STRICT;
    INSERT INTO feed (id, trimmed_through) VALUES (1, 0);

    -- One row for each job of the App Store Server API (R79): one for each chain, for each purchase
    -- with a consumption request, and for each app and environment. Jobs are opened again and never
    -- deleted. Moments are by the clock of the system, except `since` and `complete_until`.
    CREATE TABLE app_store_jobs (
      -- AUTOINCREMENT never gives an id twice.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- An `AppStoreJobKind`: 1 refetch, 2 reconciliation, 3 consumption.
      kind INTEGER NOT NULL,
      -- Of a refetch the original transaction id, of consumption the transaction id, both known or
      -- not; of a reconciliation empty.
      chain TEXT NOT NULL,
      -- An `AppStoreJob.State`: 1 open, 2 done, 3 given up, 4 cancelled.
      state INTEGER NOT NULL,
      -- How often it was opened, also while it was open.
      opening INTEGER NOT NULL,
      -- Why it was opened: a bit for each `RefetchReason`. 0 for a job that is no refetch.
      reasons INTEGER NOT NULL,
      -- The moment at which it was opened.
      opened_at INTEGER NOT NULL,
      -- The moment at which its state changed, or its last attempt ended.
      changed_at INTEGER NOT NULL,
      -- The moment from which an open job may be attempted. Of a leased job: when the lease ends.
      due_at INTEGER NOT NULL,
      -- The text that names the lease; NULL: it is not leased.
      lease TEXT,
      -- The number of failed attempts since it was opened or retried, or made progress.
      failures INTEGER NOT NULL,
      -- The number of attempts that were answered without clearing the reasons, since it was opened
      -- or retried.
      unexplained INTEGER NOT NULL,
      -- Why the last attempt failed or waits, in at most 256 bytes; empty: it did not.
      last_failure TEXT NOT NULL,
      -- A reconciliation asks for notifications from this moment on; NULL: it is no reconciliation.
      since INTEGER,
      -- All notifications until this moment were asked for, by the last reconciliation that is
      -- done; NULL: none is done, or it is no reconciliation.
      complete_until INTEGER,
      -- Where the next attempt continues, in a form of the job's own; empty: at the beginning.
      cursor TEXT NOT NULL,
      -- The number of calls since it was opened, without those that Apple refused.
      calls INTEGER NOT NULL,
      -- The number of signed payloads that these calls brought.
      payloads INTEGER NOT NULL,
      -- The number of these payloads that were not stored before.
      added INTEGER NOT NULL,
      -- The number of these payloads that were refused.
      refused INTEGER NOT NULL,
      -- Finds the job of a subject.
      UNIQUE (scope_id, kind, chain)
    ) STRICT;
    -- Due jobs, the one that waits longest first; the earliest due moment; leases to end.
    CREATE INDEX app_store_jobs_due ON app_store_jobs (scope_id, due_at) WHERE state = 1;
    -- Pages of the list of jobs in a state, and their number.
    CREATE INDEX app_store_jobs_by_state ON app_store_jobs (state);
    -- Due jobs of consumption (3), which go before all others.
    CREATE INDEX app_store_jobs_due_consumption ON app_store_jobs (scope_id, due_at, id)
      WHERE state = 1 AND kind = 3;

    -- One row for each purchase about whose consumption the backend stated something, or the App
    -- Store asked (R86). The key is the scope and the transaction, which need not be known.
    CREATE TABLE consumption_requests (
      -- AUTOINCREMENT never gives an id twice.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The id of the transaction.
      transaction_id TEXT NOT NULL,
      -- How much is consumed, as the backend stated, in thousandths of a percent; NULL: not stated.
      percentage INTEGER,
      -- The delivery status, as the backend stated, in Apple's words; NULL: not stated.
      delivery_status TEXT,
      -- A `ConsumptionRequest.State`: 1 open, 2 sent, 3 not sent; NULL: the App Store has not
      -- asked. Then all columns after this one are NULL.
      state INTEGER,
      -- A `ConsumptionCause`: what an open request waits for, or why it was not sent; NULL: none.
      cause INTEGER,
      -- The UUID of the first notification that asked.
      notification_uuid TEXT,
      -- The consumptionRequestReason; NULL: the notification has none.
      reason TEXT,
      -- The moment at which the App Store signed the request, by its clock.
      requested_at INTEGER,
      -- What was sent, or why the last call failed, in at most 256 bytes; empty: nothing to say.
      detail TEXT,
      -- The number of calls that were begun since it was opened.
      attempts INTEGER,
      -- The lease of the attempt that has begun a call and has not told how it ended; NULL: none.
      sending TEXT,
      -- The moment at which it was opened.
      opened_at INTEGER,
      -- The moment of its last change.
      changed_at INTEGER,
      -- Finds the row of a transaction.
      UNIQUE (scope_id, transaction_id)
    ) STRICT;
    -- Pages of the list of requests in a state.
    CREATE INDEX consumption_requests_by_state ON consumption_requests (state)
      WHERE state IS NOT NULL;
    -- Pages of the list of all requests.
    CREATE INDEX consumption_requests_asked ON consumption_requests (id) WHERE state IS NOT NULL;
    -- The number of open requests, and the earliest one.
    CREATE INDEX consumption_requests_open ON consumption_requests (scope_id, requested_at)
      WHERE state = 1;

    -- One row for each account whose consent to tell the App Store about consumption is recorded.
    -- The key is the account.
    CREATE TABLE consumption_consents (
      -- The row id of the account.
      account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
      -- 1: the customer consents; 0: the customer refuses.
      is_given INTEGER NOT NULL,
      -- The moment at which it was recorded.
      at INTEGER NOT NULL,
      -- The name of the caller that recorded it.
      author TEXT NOT NULL,
      -- For whom the author acted, as the author said; NULL: it did not say.
      on_behalf_of TEXT,
      -- The reason, in the caller's words; empty: it gave none.
      note TEXT NOT NULL
    ) STRICT;

    -- One row for each import of accounts (R89), until an operator deletes it.
    CREATE TABLE imports (
      -- AUTOINCREMENT never gives an id twice.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      -- The bundle id and the id that the caller chose, with a slash between them
      -- (`AccountImportName`). The unique index finds an import by it.
      name TEXT NOT NULL UNIQUE,
      -- The bundle id of all its rows.
      bundle_id TEXT NOT NULL,
      -- The name of the caller that began it.
      author TEXT NOT NULL,
      -- The moment at which it began.
      began_at INTEGER NOT NULL,
      -- The number of rows that were stored for it, for the limit of rows of all imports. Rows that
      -- are deleted meanwhile count until the import is deleted.
      rows INTEGER NOT NULL
    ) STRICT;

    -- One row for each customer of an import: an account, and a transaction of which the App Store
    -- is asked. Moments are by the clock of the system.
    CREATE TABLE import_rows (
      -- The import that has the row.
      import_id INTEGER NOT NULL REFERENCES imports (id),
      -- The number of the line in the import.
      number INTEGER NOT NULL,
      -- The app, and the environment that is asked first.
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- 1: the Sandbox is asked too when Production does not know the transaction.
      falls_back INTEGER NOT NULL,
      -- The id of the account. The account need not be known.
      account TEXT NOT NULL,
      -- Any transaction id of the customer, or the id of an app transaction.
      transaction_id TEXT NOT NULL,
      -- The token that is bound to the account; NULL: none.
      token TEXT,
      -- An `AccountImportRow.State`: 1 waiting, 2 done, 3 failed, 4 duplicate, 5 cancelled.
      state INTEGER NOT NULL,
      -- An `AccountImportRow.Reason`: why it failed. 1 is invalid, 3 is a conflict; 0: none.
      reason INTEGER NOT NULL,
      -- For people, in at most 256 bytes. Of a waiting row: why the last attempt failed or waits.
      -- Empty: nothing to say.
      detail TEXT NOT NULL,
      -- The moment from which a waiting row may be attempted. Of a leased row: when the lease ends.
      -- Of a row that does not wait it has no meaning.
      due_at INTEGER NOT NULL,
      -- The text that names the lease; NULL: it is not leased.
      lease TEXT,
      -- The number of attempts in a row that failed.
      failures INTEGER NOT NULL,
      -- The number of attempts in a row that the App Store refused.
      refusals INTEGER NOT NULL,
      -- Where the next attempt continues, in a form of the import's own; empty: at the beginning.
      cursor TEXT NOT NULL,
      -- The moment of its last change.
      changed_at INTEGER NOT NULL,
      PRIMARY KEY (import_id, number)
    ) STRICT, WITHOUT ROWID;
    -- The numbers of rows by state and reason; the rows that are cancelled, or retried.
    CREATE INDEX import_rows_by_state ON import_rows (import_id, state, reason);
    -- Pages of the list of rows in a state.
    CREATE INDEX import_rows_by_number ON import_rows (import_id, state, number);
    -- Due rows, the one that waits longest first; leases to end; the number of waiting rows.
    CREATE INDEX import_rows_due ON import_rows (scope_id, due_at) WHERE state = 1;
    -- Other rows with the same transaction: duplicates and conflicts.
    CREATE INDEX import_rows_by_transaction ON import_rows (scope_id, transaction_id);
    -- The rows that name an account: its export, and its erasure.
    CREATE INDEX import_rows_by_account ON import_rows (scope_id, account);

    -- One row for each entry of the audit trail (R76). The key is the chain of the process that
    -- wrote it, and the position. An entry names no customer (R77). A text is empty where the entry
    -- has nothing to say. Retention deletes the oldest entries of a chain.
    CREATE TABLE audit_entries (
      -- The random id of the chain.
      chain TEXT NOT NULL,
      -- The position in the chain, from 1.
      position INTEGER NOT NULL,
      -- The name of the node.
      node TEXT NOT NULL,
      -- The moment of the call.
      at INTEGER NOT NULL,
      -- The address of the peer.
      peer TEXT NOT NULL,
      -- The method that was called, such as AddGrant.
      method TEXT NOT NULL,
      -- The app and the environment; empty: the call is about the whole server.
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      -- The pseudonym of the account; empty: no account is concerned.
      account TEXT NOT NULL,
      -- The pseudonym of the account that lost something to `account`; empty: none did.
      former_account TEXT NOT NULL,
      -- The name of the caller.
      author TEXT NOT NULL,
      -- The reason, in the caller's words.
      reason TEXT NOT NULL,
      -- What was changed, by an id that is not Apple's.
      subject TEXT NOT NULL,
      -- An `AuditOutcome`.
      outcome TEXT NOT NULL,
      -- The hash of the entry before this one in the chain; empty: this is the first one.
      previous TEXT NOT NULL,
      -- The hash of this entry (R78): a SHA-256 in hexadecimal digits.
      hash TEXT NOT NULL,
      -- For whom the caller acted, as the caller said.
      on_behalf_of TEXT NOT NULL,
      -- An `AuditProof`: how the caller proved its name.
      proof TEXT NOT NULL,
      -- The id of the token; empty: the proof is another one.
      token_id TEXT NOT NULL,
      -- Pages of the entries in the order of chains.
      PRIMARY KEY (chain, position)
    ) STRICT;
    -- Pages of the entries in the order of time, and the oldest ones for retention.
    CREATE INDEX audit_entries_by_time ON audit_entries (at, chain, position);

    -- One row for each chain of the audit trail: its last entry, and what the last seal says of it.
    CREATE TABLE audit_heads (
      -- The random id of the chain.
      chain TEXT NOT NULL PRIMARY KEY,
      -- The position of the last entry.
      position INTEGER NOT NULL,
      -- The hash of the last entry.
      hash TEXT NOT NULL,
      -- The last position that a seal names; 0: none does.
      sealed_position INTEGER NOT NULL,
      -- The position of the last entry that retention deleted; 0: none.
      removed_position INTEGER NOT NULL,
      -- The hash of that entry; empty: none.
      removed_hash TEXT NOT NULL
    ) STRICT;
    -- The chains that grew since their last seal.
    CREATE INDEX audit_heads_unsealed ON audit_heads (chain) WHERE position <> sealed_position;

    -- One row for each seal (R78). Seals are a chain of their own and are never deleted.
    CREATE TABLE audit_seals (
      -- From 1, without gaps.
      number INTEGER NOT NULL PRIMARY KEY,
      -- The moment of the seal.
      at INTEGER NOT NULL,
      -- The name of the node that wrote it.
      node TEXT NOT NULL,
      -- The hash of the seal before this one; empty: this is the first one.
      previous TEXT NOT NULL,
      -- The hash of this seal and its chains: a SHA-256 in hexadecimal digits.
      hash TEXT NOT NULL
    ) STRICT;

    -- One row for each chain that a seal names. The key is the seal and the chain.
    CREATE TABLE audit_seal_chains (
      -- The number of the seal.
      number INTEGER NOT NULL REFERENCES audit_seals (number),
      -- The random id of the chain.
      chain TEXT NOT NULL,
      -- The position of the last entry of the chain.
      position INTEGER NOT NULL,
      -- The hash of that entry.
      hash TEXT NOT NULL,
      -- The position of the last entry that retention deleted; 0: none.
      removed_position INTEGER NOT NULL,
      -- The hash of that entry; empty: none.
      removed_hash TEXT NOT NULL,
      -- The chains of a seal in the order of their ids.
      PRIMARY KEY (number, chain)
    ) STRICT;

    -- One row for each account that the audit trail names. No other table tells whose a pseudonym
    -- is. The row is deleted with the account (R77).
    CREATE TABLE audit_accounts (
      scope_id INTEGER NOT NULL REFERENCES scopes (id),
      -- The id of the account.
      account TEXT NOT NULL,
      -- 128 random bits in hexadecimal digits.
      pseudonym TEXT NOT NULL,
      -- Finds the pseudonym of an account.
      PRIMARY KEY (scope_id, account)
    ) STRICT;

    -- These triggers protect the audit trail from mistakes: no statement changes an entry, and none
    -- changes or deletes a seal.
    CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_seals_stay BEFORE UPDATE ON audit_seals
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_seals_are_kept BEFORE DELETE ON audit_seals
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_seal_chains_stay BEFORE UPDATE ON audit_seal_chains
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_seal_chains_are_kept BEFORE DELETE ON audit_seal_chains
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    """
}
