-- Jobs of the App Store Server API (R79): one for each chain, and one for each app and environment. Not
-- partitioned: only few chains ever need one.
CREATE TABLE app_store_jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope integer NOT NULL,
  -- An AppStoreJobKind.
  kind smallint NOT NULL,
  -- The original transaction id of a refetch, which need not be known; empty for a reconciliation.
  chain text COLLATE "C" NOT NULL,
  -- An AppStoreJob.State: 1 is open.
  state smallint NOT NULL,
  opening bigint NOT NULL,
  -- A bit for each RefetchReason.
  reasons bigint NOT NULL,
  opened_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  -- Of a leased job: when its lease ends.
  due_at bigint NOT NULL,
  -- NULL when it is not leased.
  lease text COLLATE "C",
  failures bigint NOT NULL,
  unexplained bigint NOT NULL,
  last_failure text COLLATE "C" NOT NULL,
  since bigint,
  complete_until bigint,
  cursor text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  payloads bigint NOT NULL,
  added bigint NOT NULL,
  refused bigint NOT NULL,
  UNIQUE (scope, kind, chain)
);
CREATE INDEX app_store_jobs_due ON app_store_jobs (scope, due_at, id) WHERE state = 1;
CREATE INDEX app_store_jobs_by_state ON app_store_jobs (state, id);

-- A program that knows an older schema would store notifications without the jobs that they ask for: it
-- cannot commit any more (0002_versions.sql).
ALTER TABLE commit_tokens DROP CONSTRAINT commit_tokens_writer_schema_check;
ALTER TABLE commit_tokens ADD CONSTRAINT commit_tokens_writer_schema_check
  CHECK (writer_schema >= 9) NOT VALID;
