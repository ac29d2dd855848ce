-- Imports of accounts (R89).
CREATE TABLE imports (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  bundle_id text COLLATE "C" NOT NULL,
  author text COLLATE "C" NOT NULL,
  began_at bigint NOT NULL,
  -- How many rows were stored for it.
  rows bigint NOT NULL
);
-- A customer that a team named: its account and a transaction, of which the App Store is asked.
CREATE TABLE import_rows (
  import bigint NOT NULL REFERENCES imports (id),
  number bigint NOT NULL,
  scope integer NOT NULL,
  falls_back boolean NOT NULL,
  -- The account need not be known.
  account text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  token text COLLATE "C",
  -- An AccountImportRow.State: 1 is waiting, 2 done, 3 failed, 5 cancelled.
  state smallint NOT NULL,
  -- An AccountImportRow.Reason; 0 for none, 1 is invalid.
  reason smallint NOT NULL,
  detail text COLLATE "C" NOT NULL,
  -- Of a leased row: when its lease ends.
  due_at bigint NOT NULL,
  lease text COLLATE "C",
  failures bigint NOT NULL,
  refusals bigint NOT NULL,
  cursor text COLLATE "C" NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (import, number)
);
CREATE INDEX import_rows_by_state ON import_rows (import, state, number);
-- For counts.
CREATE INDEX import_rows_by_reason ON import_rows (import, state, reason);
CREATE INDEX import_rows_due ON import_rows (scope, due_at, import, number) WHERE state = 1;
CREATE INDEX import_rows_by_transaction ON import_rows (scope, transaction_id);
CREATE INDEX import_rows_by_account ON import_rows (scope, account);

-- A program that knows an older schema would delete accounts, and leave the rows that name them: it
-- cannot commit any more (0002_versions.sql).
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 11) NOT VALID;
